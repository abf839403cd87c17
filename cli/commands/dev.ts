import { existsSync } from "node:fs";
import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { startBundler } from "../project/bundle-in-thread.ts";
import { addServeOptions, type ServeOptions, startOptions } from "../start-options.ts";
import type { GlobalOptions } from "./global-options.ts";
import { addProjectOptions, configPathOf, type ProjectOptions } from "./project-options.ts";

type DevOptions = GlobalOptions & ProjectOptions & ServeOptions;

export function addDev(program: Command): void {
  addServeOptions(addProjectOptions(program.command("dev")))
    .description("serve a project on this machine, and reload when a file changes")
    .action((dir: string | undefined, _options, command: Command) =>
      dev(dir, command.optsWithGlobals()),
    );
}

async function dev(dir: string | undefined, options: DevOptions): Promise<void> {
  if (options.remote === true || options.env !== undefined || options.json === true) {
    throw new CliError("--remote, --env and --json are not for dev");
  }
  const { state, langgraph: langGraph } = options;
  const configPath = configPathOf(dir, options);
  const chosen = startOptions(options, { configPath, state, watch: true, langGraph });
  // A first start has to bundle; its thread starts while this one loads the server.
  if (!existsSync(chosen.stateDir)) startBundler();
  // Loaded on demand: its modules include the whole server, which other commands do not need.
  const { start } = await import("../start.ts");
  await start(chosen);
}
