import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { z } from "zod";
import type { SqlValue } from "../../src/db/tools/sql-runner.ts";
import { CliError } from "../cli-error.ts";
import type { Database } from "./database.ts";

const BINDING = "DB";
const TIMEOUT_MS = 60_000;

const require = createRequire(import.meta.url);
const success = z.array(z.object({ results: z.array(z.record(z.string(), z.unknown())) }));
const failure = z.object({ error: z.object({ text: z.string() }) });

/** The deployed D1 database of a region, through wrangler and its credentials. */
export function remoteDatabase(repoRoot: string, env: string | undefined): Database {
  const region = env === "eu" ? "eu" : "us";
  return {
    region,
    ...(region === "us" ? {} : { billing: remoteDatabase(repoRoot, "us") }),
    run: async (sql, values = []) => {
      const command = inlineValues(sql, values);
      const args = ["d1", "execute", BINDING, "--remote", "--json", "--command", command];
      // An empty one is the top level of wrangler.toml, which has to be asked for where there are others.
      return execute(repoRoot, [...args, "--env", env ?? ""]);
    },
  };
}

function execute(repoRoot: string, args: string[]): Record<string, unknown>[] {
  const wrangler = require
    .resolve("wrangler/package.json")
    .replace("package.json", "bin/wrangler.js");
  const child = spawnSync(process.execPath, [wrangler, ...args], {
    cwd: repoRoot,
    encoding: "utf8",
    timeout: TIMEOUT_MS,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = parseJson(child.stdout ?? "");
  const answered = success.safeParse(output);
  if (child.status === 0 && answered.success)
    return answered.data.flatMap(({ results }) => results);
  const failed = failure.safeParse(output);
  const reason = failed.success ? failed.data.error.text : firstLine(child.stderr || child.stdout);
  throw new CliError(`wrangler d1 execute failed: ${child.error?.message ?? reason}`);
}

/** wrangler takes no parameters, so each `?` becomes a SQL literal. */
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function firstLine(text: string): string {
  const line = text.split("\n").find((candidate) => candidate.trim() !== "");
  return line?.trim() ?? "no answer";
}
