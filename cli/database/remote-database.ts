import { z } from "zod";
import { reasonOf, runWrangler } from "../account/wrangler.ts";
import type { SqlValue } from "../../src/db/tools/sql-runner.ts";
import { jsonOrUndefined } from "../../src/lib/json.ts";
import { CliError } from "../cli-error.ts";
import type { Database } from "./database.ts";

const BINDING = "DB";

const success = z.array(z.object({ results: z.array(z.record(z.string(), z.unknown())) }));
const failure = z.object({ error: z.object({ text: z.string() }) });

/** Returns the deployed D1 database of a region, accessed through wrangler with its credentials. */
export function remoteDatabase(repoRoot: string, env: string | undefined): Database {
  const region = env === "eu" ? "eu" : "us";
  return {
    region,
    ...(region === "us" ? {} : { billing: remoteDatabase(repoRoot, "us") }),
    run: async (sql, values = []) => {
      const command = inlineValues(sql, values);
      const args = ["d1", "execute", BINDING, "--remote", "--json", "--command", command];
      // An empty `--env` selects the top level of wrangler.toml, which wrangler requires to be explicit when
      // environments exist.
      return execute(repoRoot, [...args, "--env", env ?? ""]);
    },
  };
}

async function execute(cwd: string, args: string[]): Promise<Record<string, unknown>[]> {
  const child = await runWrangler(args, { cwd });
  const output = jsonOrUndefined(child.stdout);
  const answered = success.safeParse(output);
  if (child.code === 0 && answered.success) return answered.data.flatMap(({ results }) => results);
  const failed = failure.safeParse(output);
  const reason = failed.success ? failed.data.error.text : reasonOf(child);
  throw new CliError(`wrangler d1 execute failed: ${reason}`);
}

/** Replaces each `?` by a SQL literal, because wrangler takes no parameters. */
export function inlineValues(sql: string, values: SqlValue[]): string {
  const left = [...values];
  const inlined = sql.replaceAll("?", () => {
    const value = left.shift();
    if (value === undefined) throw new Error("fewer values than placeholders");
    return literal(value);
  });
  if (left.length > 0) throw new Error("more values than placeholders");
  return inlined;
}

function literal(value: SqlValue): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return String(value);
  if (value.includes("\0")) throw new CliError("a text may not contain a NUL character");
  return `'${value.replaceAll("'", "''")}'`;
}
