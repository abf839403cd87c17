import { type Command, Option } from "commander";
import { CliError } from "../cli-error.ts";
import { pathFromUser } from "../invocation.ts";
import type { GlobalOptions } from "./global-options.ts";
import { addProjectOptions, configPathOf, type ProjectOptions } from "./project-options.ts";

type DevOptions = GlobalOptions &
  ProjectOptions & { port?: string; host?: string; log?: string; var: string[] };

export function addDev(program: Command): void {
  addProjectOptions(program.command("dev"))
    .description("serve a project on this machine, and reload when a file changes")
    .option("--port <number>", "0 for any free port (default: 8123, or the next free one)")
    .option("--host <address>", "the address to listen on (default: 127.0.0.1)")
    .option("--log <level>", "of the server: debug, info, warn or error (default: info)")
    .addOption(
      new Option("--var <name=value>", "a variable, instead of .dev.vars; as often as needed")
        .argParser((text: string, before: string[]) => [...before, text])
        .default([], "none"),
    )
    .action((dir: string | undefined, _options, command: Command) =>
      dev(dir, command.optsWithGlobals()),
    );
}

async function dev(dir: string | undefined, options: DevOptions): Promise<void> {
  if (options.remote === true || options.env !== undefined || options.json === true) {
    throw new CliError("--remote, --env and --json are not for dev");
  }
  const { port, host, log, langgraph, state } = options;
  const config = configPathOf(dir, options);
  const values = Object.entries({
    config,
    port,
    host,
    log,
    langgraph,
    state: state === undefined ? undefined : pathFromUser(state),
  });
  const named = values.flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
  const vars = options.var.flatMap((text) => ["--var", text]);
  // Its modules bring the whole server, which other commands do without.
  const { start } = await import("../start.ts");
  await start(["--watch", ...named, ...vars]);
}
