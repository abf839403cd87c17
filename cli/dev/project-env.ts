import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { CliError } from "../cli-error.ts";
import { loadProjectConfig } from "../project/langgraph-json.ts";

/** Marks the line that this module writes. A `PROJECT_ENV` line without it belongs to the user and is kept. */
const NOTE = "# The env of the project that was built last; wrangler dev keeps it up to date.";
const OUR_LINE = new RegExp(String.raw`^${NOTE.replaceAll(".", "\\.")}\n.*\n?`, "m");
const ANY_LINE = /^[ \t]*(?:export[ \t]+)?PROJECT_ENV[ \t]*=/m;

const builtProject = z.object({ config: z.string() });

/** Records which project the Worker's graphs are built from. `config` is its `langgraph.json` or its folder. */
export function rememberBuiltProject(repoRoot: string, config: string): void {
  const file = memoryOf(repoRoot);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ config }));
}

/**
 * Writes the variables under `env` in the built project's `langgraph.json` to `.dev.vars`, where `wrangler
 * dev` reads variables. They are not part of the bundle, because the bundle is deployed. Throws a `CliError`
 * when the project is missing or cannot be read.
 */
export function writeProjectEnv(repoRoot: string): void {
  const { env } = loadProjectConfig(configOfBuiltProject(repoRoot));
  const file = join(repoRoot, ".dev.vars");
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const after = withProjectEnv(before, env);
  if (after === before) return;
  writeFileSync(file, after, { mode: 0o600 });
  // The mode above applies only to a new file.
  chmodSync(file, 0o600);
}

/** Returns the text of a `.dev.vars` with these variables in place of those that this module wrote before. */
export function withProjectEnv(text: string, env: Record<string, string>): string {
  const others = text.replace(OUR_LINE, "");
  if (Object.keys(env).length === 0 || ANY_LINE.test(others)) return others;
  const separator = others === "" || others.endsWith("\n") ? "" : "\n";
  return `${others}${separator}${NOTE}\nPROJECT_ENV='${quotable(JSON.stringify(env))}'\n`;
}

/** Escapes single quotes in the JSON, so that it can be put in single quotes. */
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
