import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { CliError } from "../cli-error.ts";
import { loadProjectConfig } from "../project/langgraph-json.ts";

/** Marks the line that is ours: one without it is somebody's own, and stays. */
const NOTE = "# The env of the project that was built last; wrangler dev keeps it up to date.";
const OUR_LINE = new RegExp(String.raw`^${NOTE.replaceAll(".", "\\.")}\n.*\n?`, "m");
const ANY_LINE = /^[ \t]*(?:export[ \t]+)?PROJECT_ENV[ \t]*=/m;

const builtProject = z.object({ config: z.string() });

/** Remembers which project the Worker's graphs are made of. `config`: its `langgraph.json`, or its folder. */
export function rememberBuiltProject(repoRoot: string, config: string): void {
  const file = memoryOf(repoRoot);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ config }));
}

/**
 * Puts the variables that the built project's `langgraph.json` has in `env` into `.dev.vars`, which is
 * where `wrangler dev` finds variables. They are no part of the bundle, because that is deployed.
 * Throws a `CliError` when the project is gone or cannot be read.
 */
export function writeProjectEnv(repoRoot: string): void {
  const { env } = loadProjectConfig(configOfBuiltProject(repoRoot));
  const file = join(repoRoot, ".dev.vars");
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const after = withProjectEnv(before, env);
  if (after === before) return;
  writeFileSync(file, after, { mode: 0o600 });
  // The mode above is of a new file only.
  chmodSync(file, 0o600);
}

/** The text of a `.dev.vars`, with these variables in place of those that were written there before. */
export function withProjectEnv(text: string, env: Record<string, string>): string {
  const others = text.replace(OUR_LINE, "");
  if (Object.keys(env).length === 0 || ANY_LINE.test(others)) return others;
  const separator = others === "" || others.endsWith("\n") ? "" : "\n";
  return `${others}${separator}${NOTE}\nPROJECT_ENV='${quotable(JSON.stringify(env))}'\n`;
}

/** The same JSON without what ends a quotation. */
function quotable(json: string): string {
  return json.replaceAll("'", String.raw`\u0027`);
}

function configOfBuiltProject(repoRoot: string): string {
  const file = memoryOf(repoRoot);
  if (!existsSync(file))
    throw new CliError("the graphs are not built yet: run npm run build first");
  return builtProject.parse(JSON.parse(readFileSync(file, "utf8"))).config;
}

function memoryOf(repoRoot: string): string {
  return join(repoRoot, ".threadworks/built.json");
}
