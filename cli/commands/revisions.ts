import type { Command } from "commander";
import { resolveDeployment } from "../api/resolve-deployment.ts";
import type { Deployment, Revision } from "../api/schemas.ts";
import { formatTable, printJson } from "../terminal/print.ts";
import { addApiOptions, openApi, type ApiOptions } from "./api-command.ts";
import { parseCount } from "./count-option.ts";

type RevisionsOptions = ApiOptions & { limit: number };

const DEFAULT_LIMIT = 10;

export function addRevisions(program: Command): void {
  const revisions = program.command("revisions").description("list a deployment's revisions");
  addApiOptions(revisions.command("list <deployment>"))
    .description("list the revisions of the deployment with this id or name, the newest first")
    .option("--limit <number>", "the maximum number of revisions", parseCount, DEFAULT_LIMIT)
    .action((idOrName: string, _options, command: Command) =>
      listRevisions(idOrName, command.optsWithGlobals()),
    );
}

async function listRevisions(idOrName: string, options: RevisionsOptions): Promise<void> {
  const api = openApi(options);
  const deployment = await resolveDeployment(api, idOrName);
  const revisions: Revision[] = [];
  for await (const revision of api.listRevisions(deployment.id)) {
    if (revisions.length === options.limit) break;
    revisions.push(revision);
  }
  if (options.json === true) printJson(revisions);
  else if (revisions.length === 0) console.error(`${deployment.name} has no revisions.`);
  else console.log(formatTable(revisions.map((revision) => rowOf(revision, deployment))));
}

function rowOf(
  { id, status, created_at, status_message }: Revision,
  deployment: Deployment,
): Record<string, string> {
  const isReplaced = status === "DEPLOYED" && deployment.active_revision_id !== id;
  return {
    ID: id,
    STATUS: isReplaced ? "REPLACED" : status,
    CREATED: created_at ?? "-",
    REASON: status_message ?? "",
  };
}
