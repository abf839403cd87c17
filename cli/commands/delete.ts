import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { ControlPlane } from "../api/control-plane.ts";
import { resolveDeployment } from "../api/resolve-deployment.ts";
import { CliError } from "../cli-error.ts";
import { ask, canAsk } from "../terminal/ask.ts";
import { printJson } from "../terminal/print.ts";
import { Progress } from "../terminal/progress.ts";
import { addApiOptions, openApi, type ApiOptions } from "./api-command.ts";

type DeleteOptions = ApiOptions & {
  force?: boolean;
  deleteTracingProject?: boolean;
  wait: boolean;
  input: boolean;
};

const POLL_MS = 250;
const TIMEOUT_MS = 1_800_000;

export function addDelete(program: Command): void {
  addApiOptions(program.command("delete <deployment>"))
    .description("delete the deployment with this id or name, with its threads and secrets")
    .option("--force", "do not ask for confirmation")
    .option("--no-input", "do not ask for confirmation, as with --force")
    .option("--delete-tracing-project", "delete its traces, too")
    .option("--no-wait", "do not wait until everything is deleted")
    .action((idOrName: string, _options, command: Command) =>
      deleteDeployment(idOrName, command.optsWithGlobals()),
    );
}

async function deleteDeployment(idOrName: string, options: DeleteOptions): Promise<void> {
  const api = openApi(options);
  const { id, name } = await resolveDeployment(api, idOrName);
  if (options.force !== true && options.input) await confirm(`${name} (${id})`);
  const progress = new Progress();
  try {
    progress.show(`Deleting ${name}`);
    const deletesTracingProject = options.deleteTracingProject === true;
    await api.deleteDeployment(id, { deletesTracingProject });
    if (options.wait) await untilGone(api, id);
  } finally {
    progress.end();
  }
  const status = options.wait ? "deleted" : "deleting";
  if (options.json === true) printJson({ event: "result", status, deployment_id: id, name });
  else progress.line(options.wait ? `Deleted ${name}` : `${name} is being deleted`);
}

async function confirm(what: string): Promise<void> {
  if (!canAsk())
    throw new CliError(`there is no terminal to ask for confirmation: delete ${what} with --force`);
  const answer = await ask(`Delete ${what}, with its threads and secrets? [y/N] `);
  if (!/^y(?:es)?$/i.test(answer)) throw new CliError("nothing was deleted");
}

async function untilGone(api: ControlPlane, id: string): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while ((await api.findDeployment(id)) !== undefined) {
    if (performance.now() > deadline) {
      throw new CliError(
        `deployment ${id} is still being deleted; the deletion continues by itself`,
      );
    }
    await sleep(POLL_MS);
  }
}
