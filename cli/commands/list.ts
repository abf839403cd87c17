import type { Command } from "commander";
import type { Deployment } from "../api/schemas.ts";
import { formatTable, printJson } from "../terminal/print.ts";
import { addApiOptions, openApi, type ApiOptions } from "./api-command.ts";

type ListOptions = ApiOptions & { nameContains?: string };

export function addList(program: Command): void {
  addApiOptions(program.command("list"))
    .description("list deployments")
    .option("--name-contains <text>", "only those whose names contain it")
    .action((_options, command: Command) => list(command.optsWithGlobals()));
}

async function list(options: ListOptions): Promise<void> {
  const deployments: Deployment[] = [];
  for await (const deployment of openApi(options).listDeployments(options.nameContains)) {
    deployments.push(deployment);
  }
  if (options.json === true) printJson(deployments);
  else if (deployments.length === 0) console.error("There are no deployments.");
  else console.log(formatTable(deployments.map(rowOf)));
}

function rowOf({ id, name, status, source_config }: Deployment): Record<string, string> {
  return { ID: id, NAME: name, STATUS: status ?? "-", URL: source_config?.custom_url ?? "-" };
}
