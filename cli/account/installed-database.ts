import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Region } from "../../src/lib/region.ts";
import { CliError } from "../cli-error.ts";
import type { Database } from "../database/database.ts";
import { type CloudflareApi, openAccount } from "./cloudflare-api.ts";
import { installationFolder } from "./installation-config.ts";

const answer = z.array(z.object({ results: z.array(z.record(z.string(), z.unknown())) }));
const written = z.object({
  d1_databases: z.array(z.looseObject({ database_id: z.string() })).min(1),
});

/** Returns the database of an installation in an account, accessed through Cloudflare's API. */
export function installedDatabase(
  api: CloudflareApi,
  options: { databaseId: string; region: Region | undefined; billing: Database | undefined },
): Database {
  const { databaseId, region, billing } = options;
  return {
    region: region ?? "us",
    ...(billing === undefined ? {} : { billing }),
    run: async (sql, params = []) => {
      const path = `/d1/database/${databaseId}/query`;
      const found = await api.request("POST", path, { body: { sql, params } });
      return answer.parse(found).flatMap(({ results }) => results);
    },
  };
}

/**
 * Returns the database of an existing installation for commands other than `up`. Its id comes from the
 * configuration that `up` wrote beside the project in the current folder.
 */
export async function openInstalledDatabase(env: string | undefined): Promise<Database> {
  const region = env === "us" || env === "eu" ? env : undefined;
  const folder = installationFolder(region);
  const file = join(folder, "wrangler.json");
  if (!existsSync(file)) {
    throw new CliError(`${file} does not exist: run npx threadworks up in the project's folder`);
  }
  const { d1_databases } = written.parse(JSON.parse(readFileSync(file, "utf8")));
  const api = await openAccount(folder);
  const billing = region === "eu" ? await openInstalledDatabase("us") : undefined;
  return installedDatabase(api, {
    databaseId: d1_databases[0]?.database_id ?? "",
    region,
    billing,
  });
}
