import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ControlPlane } from "../api/control-plane.ts";
import {
  type FetchLogs,
  type LogFilter,
  LogFollower,
  readNewest,
  timeOf,
} from "../api/log-reader.ts";
import { resolveDeployment } from "../api/resolve-deployment.ts";
import { LOG_LEVELS, type Deployment, type LogLine } from "../api/schemas.ts";
import { CliError } from "../cli-error.ts";
import { NAME_VARIABLE } from "../deploy/deployment-name.ts";
import { readEnvFile } from "../deploy/env-file.ts";
import { pathFromUser } from "../invocation.ts";
import { printJson } from "../terminal/print.ts";
import { addApiOptions, openApi, type ApiOptions } from "./api-command.ts";
import { parseCount } from "./count-option.ts";
import { parseLogTime } from "./log-time.ts";

type LogsOptions = ApiOptions & {
  name?: string;
  deploymentId?: string;
  type: string;
  revision?: string;
  level?: string;
  query?: string;
  limit: number;
  since?: string;
  until?: string;
  follow?: boolean;
};

const LOG_TYPES = ["build", "deploy", "server"];
const DEFAULT_LIMIT = 100;
const FOLLOW_POLL_MS = 1000;

export function addLogs(program: Command): void {
  addApiOptions(program.command("logs"))
    .description("print a deployment's logs")
    .argument("[deployment]", `its id or name (default: ${NAME_VARIABLE})`)
    .option("--name <name>", "the deployment, in place of the argument")
    .option("--deployment-id <id>", "the deployment, in place of the argument")
    .addOption(
      new Option("--type <type>", "build; deploy: starting revisions, and their code; server: code")
        .choices(LOG_TYPES)
        .default("deploy"),
    )
    .option(
      "--revision <id>",
      "only the log of this revision (default with --type build: the latest)",
    )
    .option("--level <level>", `at least this: ${LOG_LEVELS.join(", ")}`, parseLevel)
    .option("-q, --query <text>", "only lines that contain it")
    .option("--limit <number>", "the number of newest lines to print", parseCount, DEFAULT_LIMIT)
    .option("--since <time>", "from a time on: ISO 8601, or 10m for ten minutes ago", parseTime)
    .option("--until <time>", "before a time", parseTime)
    .option("-f, --follow", "keep printing new lines")
    .action((idOrName: string | undefined, _options, command: Command) =>
      printLogs(idOrName, command.optsWithGlobals()),
    );
}

async function printLogs(idOrName: string | undefined, options: LogsOptions): Promise<void> {
  if (options.follow === true && options.until !== undefined) {
    throw new CliError("--follow and --until cannot be combined: give one of them");
  }
  const settings = readEnvFile(join(pathFromUser("."), ".env"));
  const api = openApi(options, settings);
  const deployment = await resolveDeployment(api, deploymentOf(idOrName, options, settings));
  const fetchLogs = chooseLog(api, deployment, options);
  const filter: LogFilter = {
    // For the other types the path of the request selects the log.
    kind: options.type === "server" ? options.type : undefined,
    level: options.level,
    query: options.query,
    start_time: options.since,
    end_time: options.until,
  };
  const print = options.json === true ? printJson : printLine;

  const lines = await readNewest(fetchLogs, filter, options.limit);
  for (const line of lines) print(line);
  if (options.follow !== true) {
    if (lines.length === 0) console.error("No lines of the log match.");
    return;
  }
  const follower = new LogFollower(fetchLogs, filter);
  follower.skip(lines);
  for (;;) {
    await sleep(FOLLOW_POLL_MS);
    for (const line of await follower.next()) print(line);
  }
}

function deploymentOf(
  argument: string | undefined,
  { name, deploymentId }: LogsOptions,
  settings: Record<string, string>,
): string {
  const [given, ...others] = [argument, name, deploymentId].filter((text) => text !== undefined);
  if (others.length > 0)
    throw new CliError("name the deployment only once: by the argument, --name or --deployment-id");
  const chosen = given ?? process.env[NAME_VARIABLE] ?? settings[NAME_VARIABLE];
  if (chosen !== undefined && chosen !== "") return chosen;
  throw new CliError(`which deployment? Give its id or name, or set ${NAME_VARIABLE}`);
}

function chooseLog(
  api: ControlPlane,
  { id, latest_revision_id, name }: Deployment,
  { type, revision }: LogsOptions,
): FetchLogs {
  if (type !== "build") return api.deployLogs(id, revision);
  const built = revision ?? latest_revision_id;
  if (built == null) throw new CliError(`${name} has no revision yet`);
  return api.buildLogs(id, built);
}

function printLine(line: LogLine): void {
  console.log(`[${timeOf(line)}] [${line.level ?? "INFO"}] ${line.message}`);
}

function parseLevel(text: string): string {
  const level = text.toUpperCase();
  if ((LOG_LEVELS as readonly string[]).includes(level)) return level;
  throw new InvalidArgumentError(`Levels are ${LOG_LEVELS.join(", ")}.`);
}

function parseTime(text: string): string {
  const time = parseLogTime(text, Date.now());
  if (time !== undefined) return time;
  throw new InvalidArgumentError(
    "Give a time such as 2026-03-08T00:00:00Z, or 10m for ten minutes ago.",
  );
}
