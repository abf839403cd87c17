/** Reads the schemas of the project in its argument, in a process that a test can kill. */
import { resolve } from "node:path";
import { findSchemas } from "../../../../cli/project/extract-schemas.ts";
import { loadProjectConfig } from "../../../../cli/project/langgraph-json.ts";

const project = loadProjectConfig(process.argv[2] ?? "");
const sources = project.graphs.map(({ file }) => file);
const repoRoot = resolve(import.meta.dirname, "../../../..");
const { signal } = new AbortController();
const found = await findSchemas({ project, sources }, { repoRoot, signal });
if ("read" in found) void found.read();
process.send?.("begun");
