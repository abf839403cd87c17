import { Command, CommanderError } from "commander";
import { describeError } from "./cli-error.ts";
import { addBuild } from "./commands/build.ts";
import { addDelete } from "./commands/delete.ts";
import { addDeploy } from "./commands/deploy.ts";
import { addDev } from "./commands/dev.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addDown } from "./commands/down.ts";
import { addGlobalOptions, type GlobalOptions } from "./commands/global-options.ts";
import { addInit } from "./commands/init.ts";
import { addKey } from "./commands/key.ts";
import { addList } from "./commands/list.ts";
import { addLogs } from "./commands/logs.ts";
import { addPrivateEndpoints } from "./commands/private-endpoint.ts";
import { addRevisions } from "./commands/revisions.ts";
import { addUp } from "./commands/up.ts";
import { addWorkspace } from "./commands/workspace.ts";
import { printJson } from "./terminal/print.ts";

const program = addGlobalOptions(new Command("threadworks"))
  .description("Deploys LangGraph agents to a Threadworks platform, and manages it.")
  .configureHelp({ showGlobalOptions: true })
  .exitOverride();

const COMMANDS = [
  addInit,
  addDev,
  addBuild,
  addDeploy,
  addLogs,
  addList,
  addRevisions,
  addDelete,
  addDoctor,
  addUp,
  addDown,
  addWorkspace,
  addKey,
  addPrivateEndpoints,
];
for (const add of COMMANDS) add(program);

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
