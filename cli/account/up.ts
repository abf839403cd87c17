import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { v7 as uuid } from "uuid";
import { listWorkspaceRows } from "../../src/db/tools/workspaces.ts";
import { generateApiKey } from "../../src/identity/api-key.ts";
import { CliError } from "../cli-error.ts";
import type { Database } from "../database/database.ts";
import { migrationsIn } from "../platform/d1-migrations.ts";
import { REPO_ROOT } from "../invocation.ts";
import { ensureWorkspace } from "../database/identity.ts";
import type { Progress } from "../terminal/progress.ts";
import type { CloudflareApi } from "./cloudflare-api.ts";
import { installedDatabase } from "./installed-database.ts";
import { type Installation, writeConfig, writeWorker } from "./installation-config.ts";
import { createResource, findResources } from "./resources.ts";
import { digestOfTexts, generateSecrets, listSecrets, setSecrets } from "./secrets.ts";
import { readUpState, remember } from "./up-state.ts";
import { wrangler } from "./wrangler.ts";

const READY_TIMEOUT_MS = 180_000;
const READY_POLL_MS = 1_000;
const READY_REQUEST_MS = 10_000;

export type UpOptions = {
  api: CloudflareApi;
  project: string;
  /** The platform's address, when it differs from the one that the deployment gets. */
  url: string | undefined;
  /** Secrets besides those that each installation generates for itself. */
  shared: Record<string, string>;
  /** The database that stores the plans, when the installation does not store them itself. */
  billing: Database | undefined;
  progress: Progress;
};

export type Running = { url: string; apiKey: string | undefined; database: Database };

/**
 * Creates an installation in the account whose credentials wrangler has, or whatever is missing of it. Each
 * step first checks what exists, so that `up` can be repeated after it was interrupted at any point.
 */
export async function up(installation: Installation, options: UpOptions): Promise<Running> {
  const { folder, config, region } = installation;
  const { api, progress, project } = options;
  progress.show(`Looking up the resources of ${config.name}`);
  for (const { resource, id } of await findResources(api, config)) {
    if (id !== undefined) continue;
    progress.show(`Making the ${resource.kind} ${resource.name}`);
    await createResource(api, resource);
    progress.line(`Made the ${resource.kind} ${resource.name}.`);
  }
  const found = await findResources(api, config);
  const databaseId = found.find(({ resource }) => resource.kind === "database")?.id;
  if (databaseId === undefined) {
    throw new CliError(`the account does not list the database of ${config.name}: try again`);
  }

  progress.show("Building the Worker with the project's graphs");
  const { env, warnings } = await writeWorker(installation, project);
  for (const warning of warnings) progress.warn(warning);
  writeConfig(installation, { databaseId, online: true });
  const database = installedDatabase(api, { databaseId, region, billing: options.billing });
  await migrate(installation, { api, database, progress });

  const secrets = await listSecrets(api, config.name);
  await deploy(installation, { exists: secrets !== undefined, api, progress });
  await completeSecrets(installation, { api, has: secrets, env, shared: options.shared });
  progress.show("Looking for the first workspace and its key");
  const apiKey = await firstKey(installation, database);
  const url = options.url ?? readUpState(folder).url;
  if (url === undefined) {
    throw new CliError("wrangler reported no address for the Worker: give it with --url");
  }
  progress.show(`Waiting for ${url}`);
  await untilReady(url);
  progress.end();
  return { url, apiKey, database };
}

/** Lets wrangler apply the migrations that the database lacks, in their order. */
async function migrate(
  { folder }: Installation,
  options: { api: CloudflareApi; database: Database; progress: Progress },
): Promise<void> {
  const { api, database, progress } = options;
  const applied = await appliedTo(database);
  const missing = migrationsIn(join(REPO_ROOT, "migrations")).filter((name) => !applied.has(name));
  if (missing.length === 0) return;
  progress.show(`Applying ${missing.length} migrations`);
  const env = { CLOUDFLARE_ACCOUNT_ID: api.accountId };
  await wrangler(["d1", "migrations", "apply", "DB", "--remote"], { cwd: folder, env });
  progress.line(`Applied ${missing.length} migrations.`);
}

async function appliedTo(database: Database): Promise<ReadonlySet<unknown>> {
  const tables = "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ?";
  if ((await database.run(tables, ["d1_migrations"])).length === 0) return new Set();
  const rows = await database.run("SELECT name FROM d1_migrations");
  return new Set(rows.map((row) => row["name"]));
}

/** Uploads the Worker, unless the same one is already deployed. */
async function deploy(
  { folder, config }: Installation,
  { exists, api, progress }: { exists: boolean; api: CloudflareApi; progress: Progress },
): Promise<void> {
  const worker = join(folder, "worker");
  const files = readdirSync(worker, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const digest = digestOfTexts(
    readFileSync(join(folder, "wrangler.json")),
    ...files.flatMap((file) => [file, readFileSync(file)]),
  );
  if (exists && readUpState(folder).deployed === digest) return;
  progress.show(`Deploying ${config.name}`);
  const told = join(folder, "deployment.ndjson");
  rmSync(told, { force: true });
  const env = { WRANGLER_OUTPUT_FILE_PATH: told, CLOUDFLARE_ACCOUNT_ID: api.accountId };
  await wrangler(["deploy"], { cwd: folder, env });
  const url = addressIn(existsSync(told) ? readFileSync(told, "utf8") : "");
  remember(folder, { deployed: digest, ...(url === undefined ? {} : { url }) });
  progress.line(`Deployed ${config.name}.`);
}

/** Returns the last address that wrangler reported for a deployment. */
function addressIn(output: string): string | undefined {
  const lines = output.split("\n").filter((line) => line !== "");
  const targets = lines.flatMap((line) => {
    const { type, targets: found } = JSON.parse(line) as { type: string; targets?: string[] };
    return type === "deploy" ? (found ?? []) : [];
  });
  const address = targets.findLast((target) => /^https?:\/\/|^[\w.-]+\.[\w-]+$/.test(target));
  return address === undefined || /^https?:/.test(address) ? address : `https://${address}`;
}

/** Sets the missing secrets. Existing ones are kept, because data sealed with them could not be read without them. */
async function completeSecrets(
  installation: Installation,
  options: {
    api: CloudflareApi;
    has: ReadonlySet<string> | undefined;
    env: Record<string, string>;
    shared: Record<string, string>;
  },
): Promise<void> {
  const { folder, config } = installation;
  const has = options.has ?? new Set();
  const missing = Object.entries(generateSecrets()).filter(([name]) => !has.has(name));
  const projectEnv = JSON.stringify(options.env);
  const digest = digestOfTexts(projectEnv);
  const isNew = readUpState(folder).projectEnv !== digest || !has.has("PROJECT_ENV");
  await setSecrets(options.api, config.name, {
    ...Object.fromEntries(missing),
    ...options.shared,
    ...(isNew ? { PROJECT_ENV: projectEnv } : {}),
  });
  if (isNew) remember(folder, { projectEnv: digest });
}

/** Returns undefined when another machine has created the first key: only its hash is stored. */
async function firstKey(
  { folder, region }: Installation,
  database: Database,
): Promise<string | undefined> {
  let state = readUpState(folder);
  if (state.apiKey === undefined || state.workspaceId === undefined) {
    if ((await listWorkspaceRows(database)).length > 0) return undefined;
    state = remember(folder, { workspaceId: uuid(), apiKey: generateApiKey(region ?? "us") });
  }
  const { workspaceId = "", apiKey = "" } = state;
  await ensureWorkspace(database, { workspaceId, apiKey, name: "default" });
  return apiKey;
}

async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  let last = "no answer";
  while (Date.now() < deadline) {
    try {
      const response = await fetch(`${url.replace(/\/+$/, "")}/ok?check_db=1`, {
        signal: AbortSignal.timeout(READY_REQUEST_MS),
      });
      if (response.ok) return;
      last = `${response.status} ${(await response.text()).slice(0, 200)}`;
    } catch (error) {
      last = (error as Error).message;
    }
    await pause(READY_POLL_MS);
  }
  throw new CliError(`${url}/ok?check_db=1 did not become ready: ${last}`);
}
