import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { pathFromUser } from "../invocation.ts";
import { loadProjectConfig } from "../project/langgraph-json.ts";
import { buildTarball } from "../project/tarball.ts";
import { printJson } from "../terminal/print.ts";
import { Progress } from "../terminal/progress.ts";
import type { GlobalOptions } from "./global-options.ts";
import { addProjectOptions, configPathOf, type ProjectOptions } from "./project-options.ts";

type BuildOptions = GlobalOptions & ProjectOptions & { output?: string };

const DEFAULT_OUTPUT = ".threadworks/project.tar.gz";

export function addBuild(program: Command): void {
  addProjectOptions(program.command("build"))
    .description("bundle a project into the tarball that a platform deploys")
    .option("-o, --output <file>", `the tarball (default: ${DEFAULT_OUTPUT} in the project)`)
    .action((dir: string | undefined, _options, command: Command) =>
      build(dir, command.optsWithGlobals()),
    );
}

async function build(dir: string | undefined, options: BuildOptions): Promise<void> {
  const progress = new Progress();
  const { configPath, projectDir } = loadProjectConfig(configPathOf(dir, options));
  const file =
    options.output === undefined ? join(projectDir, DEFAULT_OUTPUT) : pathFromUser(options.output);
  progress.show(`Building ${projectDir}`);
  const { bytes, graphs, files, warnings } = await buildTarball({
    configPath,
    ...(options.langgraph === undefined ? {} : { langGraph: options.langgraph }),
    onReadingSchemas: () => progress.show("Reading the schemas from the graphs' types"),
  }).finally(() => progress.end());
  for (const warning of warnings) progress.warn(warning);
  await write(file, bytes);
  if (options.json === true) printJson({ file, size: bytes.length, graphs, files });
  else console.log(`${file}  ${graphs.join(", ")}  ${(bytes.length / 1024).toFixed(0)} KiB`);
}

async function write(file: string, bytes: Uint8Array): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes);
  } catch (error) {
    throw new CliError(`${file} cannot be written: ${(error as Error).message}`);
  }
}
