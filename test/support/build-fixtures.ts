import { fileURLToPath } from "node:url";
import { buildTemplates } from "../../cli/project/build-templates.ts";
import { buildProject } from "../../cli/project/build-project.ts";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** The modules that tests serve, and the configurations of `test/fixtures` that they are made from. */
const PROJECTS = {
  "project.js": "langgraph.json",
  "custom-auth.js": "custom-auth/langgraph.json",
  "authenticated.js": "custom-auth/authenticated.langgraph.json",
  "agents.js": "agents/langgraph.json",
};

/** Builds the graphs of `test/fixtures` once for all suites. */
export default async function buildFixtures(): Promise<void> {
  await buildTemplates();
  for (const [module, config] of Object.entries(PROJECTS)) {
    const { warnings } = await buildProject({
      configPath: path(`../fixtures/${config}`),
      outFile: path(`../../.threadworks/test/${module}`),
      schemas: module === "project.js",
    });
    // Without the schemas, say, some tests would fail far away from the reason.
    if (warnings.length > 0) throw new Error(`The fixtures did not build well: ${warnings.join()}`);
  }
}
