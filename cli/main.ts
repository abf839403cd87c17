import { Command, CommanderError } from "commander";
import { describeError } from "./cli-error.ts";
import { addGlobalOptions, type GlobalOptions } from "./commands/global-options.ts";
import { printJson } from "./terminal/print.ts";

/** Each command by its name, in the order of the help. A module is loaded when its command is called. */
const COMMANDS: Readonly<Record<string, (program: Command) => Promise<void>>> = {
  init: async (to) => (await import("./commands/init.ts")).addInit(to),
  dev: async (to) => (await import("./commands/dev.ts")).addDev(to),
  build: async (to) => (await import("./commands/build.ts")).addBuild(to),
  deploy: async (to) => (await import("./commands/deploy.ts")).addDeploy(to),
  logs: async (to) => (await import("./commands/logs.ts")).addLogs(to),
  list: async (to) => (await import("./commands/list.ts")).addList(to),
  revisions: async (to) => (await import("./commands/revisions.ts")).addRevisions(to),
  delete: async (to) => (await import("./commands/delete.ts")).addDelete(to),
  doctor: async (to) => (await import("./commands/doctor.ts")).addDoctor(to),
  up: async (to) => (await import("./commands/up.ts")).addUp(to),
  down: async (to) => (await import("./commands/down.ts")).addDown(to),
  workspace: async (to) => (await import("./commands/workspace.ts")).addWorkspace(to),
  key: async (to) => (await import("./commands/key.ts")).addKey(to),
  "private-endpoint": async (to) =>
    (await import("./commands/private-endpoint.ts")).addPrivateEndpoints(to),
};

const program = addGlobalOptions(new Command("threadworks"))
  .description("Deploys LangGraph agents to a Threadworks platform, and manages it.")
  .configureHelp({ showGlobalOptions: true })
  .exitOverride();

// The first argument is nearly always the command. Otherwise it may be any of them, or a help of all is asked for.
const [called = ""] = process.argv.slice(2);
const adding = Object.hasOwn(COMMANDS, called) ? [COMMANDS[called]] : Object.values(COMMANDS);
for (const add of adding) await add?.(program);

program.hook("preAction", (_program, command) => {
  // A closed pipe ends the command, because its reader needs no more output. A server has other things to shut down.
  if (command.name() !== "dev") process.stdout.on("error", () => process.exit(0));
});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode);
  const message = describeError(error);
  if (program.opts<GlobalOptions>().json === true) printJson({ event: "error", message });
  console.error(`error: ${message}`);
  process.exit(1);
}
