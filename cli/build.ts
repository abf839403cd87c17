import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeError } from "./cli-error.ts";
import { rememberBuiltProject } from "./dev/project-env.ts";
import { pathFromUser, REPO_ROOT } from "./invocation.ts";
import { buildProject } from "./project/build-project.ts";
import { buildTemplates } from "./project/build-templates.ts";

/** Writes the module that `#project` names in package.json: the graphs that are deployed with the Worker. */
async function build(): Promise<void> {
  const { values } = parseArgs({ options: { config: { type: "string" } } });
  const { config } = values;
  const configPath =
    config === undefined ? join(REPO_ROOT, "langgraph.json") : pathFromUser(config);
  const { graphs, warnings } = await buildProject({
    configPath,
    outFile: join(REPO_ROOT, ".threadworks/project.js"),
    schemas: true,
  });
  await buildTemplates();
  rememberBuiltProject(REPO_ROOT, configPath);
  for (const warning of warnings) console.error(`warning: ${warning}`);
  console.log(`Built the graphs ${graphs.join(", ")}.`);
}

try {
  await build();
} catch (error) {
  console.error(`error: ${describeError(error)}`);
  process.exit(1);
}
