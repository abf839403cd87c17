import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import { installedPackage, oldestNode } from "./installed-package.ts";

const START_TIMEOUT_MS = 120_000;
const COMMAND_TIMEOUT_MS = 240_000;

export type Ended = { code: number | null; stdout: string; stderr: string };

/** A command that is running in a user's folder. */
export type Running = {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  ended: Promise<Ended>;
  /** Kills the command and all processes that it started. */
  kill: () => Promise<void>;
};

export type UserProject = {
  folder: string;
  /** Starts a command with the oldest Node and the folder's installed packages, such as `npx threadworks dev`. */
  start: (command: string, args: string[], env?: Record<string, string>) => Running;
  run: (command: string, args: string[], env?: Record<string, string>) => Promise<Ended>;
  remove: () => Promise<void>;
};

/** Makes a user's folder with these files, where the package is installed. */
export function userProject(files: Record<string, string | object>): UserProject {
  const { installed } = installedPackage();
  const runs = join(installed, "runs");
  mkdirSync(runs, { recursive: true });
  const folder = mkdtempSync(join(runs, "user-"));
  symlinkSync(join(installed, "node_modules"), join(folder, "node_modules"));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(
      join(folder, name),
      typeof content === "string" ? content : JSON.stringify(content),
    );
  }
  const started: Running[] = [];
  const start: UserProject["start"] = (command, args, env = {}) => {
    const running = startCommand(folder, command, args, env);
    started.push(running);
    return running;
  };
  return {
    folder,
    start,
    run: (command, args, env) => start(command, args, env).ended,
    remove: async () => {
      for (const running of started) await running.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function startCommand(
  cwd: string,
  command: string,
  args: string[],
  env: Record<string, string>,
): Running {
  const child = spawn(command, args, {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // The command has its own process group: npx starts a shell, and the shell the command.
    detached: true,
    timeout: COMMAND_TIMEOUT_MS,
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const ended = once(child, "close").then(() => ({ code: child.exitCode, ...output }));
  const kill = async (): Promise<void> => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // The whole group has ended already.
    }
    await ended;
  };
  return { child, output, ended, kill };
}

/** Returns an environment without variables that refer to this repository, its Node, or a platform. */
function cleanEnvironment(): Record<string, string> {
  const told =
    /^(?:THREADWORKS|LANGGRAPH|LANGSMITH|LANGCHAIN|OPENAI|npm|NODE|VITEST|CLOUDFLARE)_|^(?:INIT_CWD|TEST|VITEST)$/;
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !told.test(entry[0]),
  );
  const path = `${oldestNode().folder}:${process.env["PATH"] ?? ""}`;
  return {
    ...Object.fromEntries(entries),
    PATH: path,
    npm_config_offline: "true",
    npm_config_loglevel: "error",
  };
}

/** Waits for the URL that `threadworks dev` prints when it serves. */
export function servedUrl({ output }: Running): Promise<string> {
  return vi.waitFor(
    () => {
      const url = /^ready {2}(\S+)$/m.exec(output.stdout)?.[1];
      if (url === undefined) throw new Error(`${output.stdout}\n${output.stderr}`);
      return url;
    },
    { timeout: START_TIMEOUT_MS },
  );
}
