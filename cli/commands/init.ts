import { relative } from "node:path";
import type { Command } from "commander";
import { writeProject } from "../init/write-project.ts";
import { pathFromUser } from "../invocation.ts";
import { printJson } from "../terminal/print.ts";
import type { GlobalOptions } from "./global-options.ts";

export function addInit(program: Command): void {
  describeInit(program.command("init"));
}

/**
 * Makes a command write a new project. Used for `threadworks init` and for the program behind `npm init
 * threadworks`.
 */
export function describeInit(command: Command): Command {
  return command
    .argument("[dir]", "the new project's folder", ".")
    .description("write a new project: an agent, its test, and a file for CI")
    .action((dir: string, _options, called: Command) => init(dir, called.optsWithGlobals()));
}

function init(dir: string, options: GlobalOptions): void {
  const folder = pathFromUser(dir);
  const files = writeProject(folder);
  if (options.json === true) {
    printJson({ folder, files });
    return;
  }
  const there = relative(process.cwd(), folder);
  const steps = [
    ...(there === "" ? [] : [`cd ${there}`]),
    "npm install",
    "npx threadworks dev      # serves the agent, with its console and traces",
    "npm test                 # runs the agent on a platform that the test starts",
  ];
  console.log(
    `Wrote ${files.join(", ")} to ${folder}.\n\n${steps.map((step) => `  ${step}`).join("\n")}`,
  );
}
