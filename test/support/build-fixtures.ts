import { fileURLToPath } from "node:url";
import { buildProject } from "../../cli/project/build-project.ts";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Builds the graphs of `test/fixtures` once for all suites. */
export default async function buildFixtures(): Promise<void> {
  const { warnings } = await buildProject({
    configPath: path("../fixtures/langgraph.json"),
    outFile: path("../../.threadworks/test/project.js"),
    schemas: true,
  });
  // Without the schemas, say, some tests would fail far away from the reason.
  if (warnings.length > 0) throw new Error(`The fixtures did not build well: ${warnings.join()}`);
}
