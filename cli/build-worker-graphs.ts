import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Command } from "commander";
import { describeError } from "./cli-error.ts";
import { buildConsole } from "./console/build-console.ts";
import { rememberBuiltProject } from "./dev/project-env.ts";
import { addGraphsOptions, type GraphsOptions, ownConfigPath } from "./graphs-options.ts";
import { REPO_ROOT } from "./invocation.ts";
import { buildProject } from "./project/build-project.ts";
import type { ProjectFile } from "./project/project-files.ts";
import { buildBuilder } from "./remote-builder/build-builder.ts";
import { buildTemplates } from "./project/build-templates.ts";

/** Writes what is deployed with the Worker: the module that `#project` names in package.json, and the console. */
async function build(): Promise<void> {
  const options = addGraphsOptions(new Command("npm run build --"))
    .description(
      "Builds the graphs and the console that are deployed with the Worker, and checks it with wrangler.",
    )
    .parse()
    .opts<GraphsOptions>();
  const configPath = ownConfigPath(options);
  const { graphs, files, warnings } = await buildProject({
    configPath,
    outFile: join(REPO_ROOT, ".threadworks/project.js"),
    langGraph: options.langgraph ?? "project",
    schemas: true,
    onReadingSchemas: () => console.log("Reading the schemas from the graphs' types ..."),
  });
  await writeFiles(files);
  await buildTemplates();
  await buildConsole();
  await buildBuilder();
  rememberBuiltProject(REPO_ROOT, configPath);
  for (const warning of warnings) console.error(`warning: ${warning}`);
  console.log(`Built the graphs ${graphs.join(", ")}.`);
}

/** Writes the project's files to the folder that wrangler deploys beside the Worker (`base_dir` in wrangler.toml). */
async function writeFiles(files: ProjectFile[]): Promise<void> {
  const folder = join(REPO_ROOT, ".threadworks/files");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const { path, text } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

try {
  await build();
} catch (error) {
  console.error(`error: ${describeError(error)}`);
  process.exit(1);
}
