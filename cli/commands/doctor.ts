import type { Command } from "commander";
import { pathFromUser } from "../invocation.ts";
import { printJson } from "../terminal/print.ts";
import type { ApiOptions } from "./api-command.ts";
import { addApiOptions } from "./api-command.ts";
import { configPathOf, type ProjectOptions } from "./project-options.ts";

type DoctorOptions = ApiOptions & ProjectOptions & { account: boolean };

export function addDoctor(program: Command): void {
  addApiOptions(program.command("doctor"))
    .argument("[dir]", "the project's folder", undefined)
    .option("-c, --config <file>", "the project's langgraph.json")
    .option("--account", "look at the Cloudflare account, too", false)
    .description("check Node, the project, its platform and its account, and say what to do")
    .action((dir: string | undefined, _options, command: Command) =>
      doctor(dir, command.optsWithGlobals()),
    );
}

async function doctor(dir: string | undefined, options: DoctorOptions): Promise<void> {
  const { checkAccount, checkNode, checkPlatform, checkProject } =
    await import("../doctor/checks.ts");
  const path = pathFromUser(configPathOf(dir, options));
  const findings = [
    checkNode(),
    ...(await checkProject(path)),
    ...(await checkPlatform(options, path)),
    ...(options.account ? await checkAccount(path) : []),
  ];
  if (options.json === true) printJson(findings);
  else for (const { ok, text } of findings) console.log(`${ok ? "ok     " : "PROBLEM"}  ${text}`);
  if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
}
