import { join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { type Region, REGIONS } from "../../src/lib/region.ts";
import type { D1Config } from "./worker-options.ts";

const PLACEHOLDER_ID = "00000000-0000-0000-0000-000000000000";

export type DeployTarget = {
  /** An environment of wrangler.toml; undefined: its top level, an installation on its own. */
  env: Region | undefined;
  /** Does what needs no account, and changes nothing anywhere. */
  dryRun: boolean;
  /** Of a dry run: an empty folder for the database that the migrations are tried on. */
  scratchDir: string;
  /** Bindings of the databases that there are. */
  databases: readonly string[];
};

/** What to call wrangler with, in this order; each only when the one before has succeeded. */
export function wranglerSteps(target: DeployTarget): string[][] {
  const { env, dryRun, scratchDir, databases } = target;
  // An empty one is the top level, which has to be asked for where there are environments.
  const where = ["--env", env ?? ""];
  const there = dryRun ? ["--local", "--persist-to", scratchDir] : ["--remote"];
  const onto = [...there, ...where];
  const outDir = join("dist", env ?? "single");
  return [
    ...databases.map((binding) => ["d1", "migrations", "apply", binding].concat(onto)),
    ["deploy", ...where, ...(dryRun ? ["--dry-run", "--outdir", outDir] : [])],
  ];
}

/** The bindings of the databases that wrangler.toml gives this environment. */
export function databaseBindings(repoRoot: string, env: Region | undefined): string[] {
  return databasesOf(readConfig(repoRoot, env)).map(({ binding }) => binding);
}

/** What wrangler.toml still lacks before this environment can be deployed. */
export function missingSettings(repoRoot: string, env: Region | undefined): string[] {
  const config = readConfig(repoRoot, env);
  const { vars } = config;
  const table = env === undefined ? "" : `env.${env}.`;
  const unset = databasesOf(config).filter(
    ({ database_id }) => database_id === undefined || database_id === PLACEHOLDER_ID,
  );
  const threadDatabases = (vars["THREAD_DATABASES"] ?? {}) as Record<string, unknown>;
  const bindings = new Set(databasesOf(config).map(({ binding }) => binding));
  const unbound = Object.keys(threadDatabases).filter((binding) => !bindings.has(binding));
  return [
    ...unset.map(
      ({ database_name: name }) =>
        `${table}d1_databases: the database_id that "wrangler d1 create ${name}" prints`,
    ),
    ...unbound.map(
      (binding) => `${table}d1_databases: ${binding}, which ${table}vars.THREAD_DATABASES names`,
    ),
    ...(vars["REGION"] === "eu" && vars["BILLING_URL"] === ""
      ? [`${table}vars.BILLING_URL: the address of the US region, which has the plans`]
      : []),
  ];
}

function readConfig(repoRoot: string, env: Region | undefined) {
  return unstable_readConfig(
    { config: join(repoRoot, "wrangler.toml"), ...(env === undefined ? {} : { env }) },
    { hideWarnings: true },
  );
}

function databasesOf({ d1_databases }: ReturnType<typeof readConfig>): D1Config[] {
  return d1_databases as D1Config[];
}

/** The secrets without which something does not work. */
export function neededSecrets(env: Region | undefined): string[] {
  return ["SIGNING_SECRET", "ENCRYPTION_KEYS", ...(env === undefined ? [] : ["REGION_SECRET"])];
}

export function readEnvironment(name: string | undefined): Region | undefined | null {
  return name === undefined ? undefined : (REGIONS.find((region) => region === name) ?? null);
}
