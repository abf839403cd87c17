import { join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { type Region, REGIONS } from "../../src/lib/region.ts";
import type { D1Config } from "./worker-options.ts";

const PLACEHOLDER_ID = "00000000-0000-0000-0000-000000000000";

export type DeployTarget = {
  /** An environment of wrangler.toml; undefined for its top level, which is a single installation. */
  env: Region | undefined;
  /** Performs only the steps that need no account, and changes nothing. */
  dryRun: boolean;
  /** Used by a dry run only: an empty folder for the database on which the migrations are tried. */
  scratchDir: string;
  /** The bindings of the configured databases. */
  databases: readonly string[];
};

/** Returns wrangler's arguments for each step, in order. A step may only run when the previous one succeeded. */
export function wranglerSteps(target: DeployTarget): string[][] {
  const { env, dryRun, scratchDir, databases } = target;
  // An empty `--env` selects the top level, which wrangler requires to be explicit when environments exist.
  const where = ["--env", env ?? ""];
  const there = dryRun ? ["--local", "--persist-to", scratchDir] : ["--remote"];
  const onto = [...there, ...where];
  const outDir = join("dist", env ?? "single");
  return [
    ...databases.map((binding) => ["d1", "migrations", "apply", binding].concat(onto)),
    ["deploy", ...where, ...(dryRun ? ["--dry-run", "--outdir", outDir] : [])],
  ];
}

/** Returns the bindings of the databases that wrangler.toml has for this environment. */
export function databaseBindings(repoRoot: string, env: Region | undefined): string[] {
  return databasesOf(readConfig(repoRoot, env)).map(({ binding }) => binding);
}

/** Returns the settings that wrangler.toml still lacks for deploying this environment. */
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

/** Returns the names of the secrets that an environment needs. */
export function neededSecrets(env: Region | undefined): string[] {
  return ["SIGNING_SECRET", "ENCRYPTION_KEYS", ...(env === undefined ? [] : ["REGION_SECRET"])];
}

export function readEnvironment(name: string | undefined): Region | undefined | null {
  return name === undefined ? undefined : (REGIONS.find((region) => region === name) ?? null);
}
