import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

const MAIN = resolve(import.meta.dirname, "../../cli/main.ts");
const TIMEOUT_MS = 240_000;

type CommandOptions = { env?: Record<string, string>; cwd?: string };

export type CommandResult = { code: number | null; stdout: string; stderr: string };

/** A running command of the CLI. */
export type RunningCommand = {
  child: ChildProcess;
  /** The output so far. */
  output: { stdout: string; stderr: string };
  ended: Promise<CommandResult>;
};

/** Runs `threadworks <args>` with the given keys and platform variables only. */
export function startThreadworks(args: string[], options: CommandOptions = {}): RunningCommand {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", MAIN, ...args], {
    cwd: options.cwd,
    env: { ...cleanEnvironment(), ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const ended = once(child, "close").then(() => ({ code: child.exitCode, ...output }));
  return { child, output, ended };
}

export function threadworks(args: string[], options: CommandOptions = {}): Promise<CommandResult> {
  return startThreadworks(args, options).ended;
}

function cleanEnvironment(): Record<string, string | undefined> {
  const told = /^(?:THREADWORKS|LANGGRAPH|LANGSMITH|LANGCHAIN|npm)_|_API_KEY$|^INIT_CWD$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !told.test(name)));
}
