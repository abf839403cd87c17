import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Miniflare } from "miniflare";
import type { ProjectConfig } from "../project/langgraph-json.ts";
import type { MapFrames } from "./stack-frames.ts";
import { loadProblems, type Problem } from "./worker-calls.ts";

const MAX_FRAMES = 5;

/**
 * Loads every graph of the served project, as a rollout does, and returns a message with the reason and the
 * location for each graph that does not load. Rejects when workerd ends or is given another version
 * meanwhile.
 */
export async function checkGraphs(
  miniflare: Miniflare,
  context: {
    project: ProjectConfig;
    repoRoot: string;
    /** Maps locations in bundled modules to those in source files, relative to the working directory. */
    mapFrames: MapFrames;
  },
): Promise<string[]> {
  const found = await loadProblems(miniflare);
  const ofProject = found.project.map(
    async (each) => `the project: ${await describe(each, context)}`,
  );
  const ofGraphs = found.graphs.map(async ({ graph_id, ...each }) => {
    const text = await describe(each, context);
    const graph = context.project.graphs.find(({ id }) => id === graph_id);
    // Messages of the loader already name the graph, and have no location in the project.
    const isNamed = [`Graph "${graph_id}"`, `"${graph_id}"`].some((name) => text.startsWith(name));
    const named = isNamed ? text : `graph "${graph_id}": ${text}`;
    const file = graph?.file ?? context.project.http?.app?.file ?? "";
    return /\n\s+at /.test(text) ? named : `${named}\n    in ${relative("", file)}`;
  });
  return Promise.all([...ofProject, ...ofGraphs]);
}

/** Returns the message, followed by the locations in the project that led to it, the innermost first. */
async function describe(
  { message, stack = "" }: Problem,
  { repoRoot, mapFrames }: { repoRoot: string; mapFrames: MapFrames },
): Promise<string> {
  const own = join(repoRoot, "src") + sep;
  const isInProject = (file: string): boolean => file !== "" && !file.startsWith(own);
  const frames = (await mapFrames(stack))
    .split("\n")
    .filter((line) => /^\s+at /.test(line) && isInProject(placeOf(line)))
    .slice(0, MAX_FRAMES);
  return [message, ...frames].join("\n");
}

/** Returns the absolute path of the file that a line of a stack trace names; empty when it names none. */
function placeOf(frame: string): string {
  const file = /([^\s()]+):\d+:\d+\)?$/.exec(frame)?.[1] ?? "";
  return file === "" || isAbsolute(file) ? file : resolve(file);
}
