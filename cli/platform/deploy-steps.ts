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
};

/** What to call wrangler with, in this order; each only when the one before has succeeded. */
export function wranglerSteps({ env, dryRun, scratchDir }: DeployTarget): string[][] {
  // An empty one is the top level, which has to be asked for where there are environments.
  const where = ["--env", env ?? ""];
  const database = dryRun ? ["--local", "--persist-to", scratchDir] : ["--remote"];
  const outDir = join("dist", env ?? "single");
  return [
    ["d1", "migrations", "apply", "DB", ...database, ...where],
    ["deploy", ...where, ...(dryRun ? ["--dry-run", "--outdir", outDir] : [])],
  ];
}

/** What wrangler.toml still lacks before this environment can be deployed. */
export function missingSettings(repoRoot: string, env: Region | undefined): string[] {
  const { d1_databases, vars } = unstable_readConfig(
    { config: join(repoRoot, "wrangler.toml"), ...(env === undefined ? {} : { env }) },
    { hideWarnings: true },
  );
  const table = env === undefined ? "" : `env.${env}.`;
  const isUnset = (d1_databases as D1Config[]).some(
    ({ database_id }) => database_id === undefined || database_id === PLACEHOLDER_ID,
  );
  const name = env === undefined ? "threadworks" : `threadworks-${env}`;
  return [
    ...(isUnset
      ? [`${table}d1_databases: the database_id that "wrangler d1 create ${name}" prints`]
      : []),
    ...(vars["REGION"] === "eu" && vars["BILLING_URL"] === ""
      ? [`${table}vars.BILLING_URL: the address of the US region, which has the plans`]
      : []),
  ];
}

/** The secrets without which something does not work. */
export function neededSecrets(env: Region | undefined): string[] {
  return ["SIGNING_SECRET", "ENCRYPTION_KEYS", ...(env === undefined ? [] : ["REGION_SECRET"])];
}

export function readEnvironment(name: string | undefined): Region | undefined | null {
  return name === undefined ? undefined : (REGIONS.find((region) => region === name) ?? null);
}
