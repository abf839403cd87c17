import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { CliError } from "../cli-error.ts";

const TIMEOUT_MS = 10 * 60_000;

/** Before this major version of Node, wrangler's starter refuses to run, although wrangler itself works. */
const STARTER_MAJOR = 22;

export type WranglerResult = { code: number | null; stdout: string; stderr: string };

const require = createRequire(import.meta.url);

/** Runs wrangler non-interactively in a folder, with the configuration there. */
export async function runWrangler(
  args: string[],
  options: { cwd: string; env?: Record<string, string>; input?: string },
): Promise<WranglerResult> {
  const child = spawn(process.execPath, [wranglerFile(), ...args], {
    cwd: options.cwd,
    env: { ...process.env, WRANGLER_SEND_METRICS: "false", NO_COLOR: "1", ...options.env },
    stdio: "pipe",
    timeout: TIMEOUT_MS,
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  // Wrangler may exit before it has read all of its input; its exit code is returned below.
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  await once(child, "close");
  return { code: child.exitCode, ...output };
}

/** Runs wrangler and returns its standard output. Throws a `CliError` with wrangler's reason when it fails. */
export async function wrangler(
  args: string[],
  options: { cwd: string; env?: Record<string, string>; input?: string },
): Promise<string> {
  const result = await runWrangler(args, options);
  if (result.code === 0) return result.stdout;
  throw new CliError(`wrangler ${args.slice(0, 3).join(" ")} failed: ${reasonOf(result)}`);
}

/** Returns wrangler's error message, in one line. */
export function reasonOf({ code, stdout, stderr }: WranglerResult): string {
  const lines = stripVTControlCharacters(`${stderr}\n${stdout}`)
    .split("\n")
    .map((line) => line.trim());
  const at = lines.findIndex((line) => line.includes("[ERROR]"));
  const told = at === -1 ? lines : lines.slice(at);
  const text = told
    .filter((line) => line !== "" && !/^(?:🪵|If you think this is a bug|[─-]+$)/.test(line))
    .slice(0, 3)
    .join(" ")
    .replace(/^.*\[ERROR\]\s*/, "");
  return text === "" ? `exit code ${code}` : text;
}

function wranglerFile(): string {
  const folder = dirname(require.resolve("wrangler/package.json"));
  const isOld = Number(process.versions.node.split(".")[0]) < STARTER_MAJOR;
  return join(folder, isOld ? "wrangler-dist/cli.js" : "bin/wrangler.js");
}
