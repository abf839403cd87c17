import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { join } from "node:path";
import { homeOf } from "../installation.ts";
import { writeWhole } from "./write-whole.ts";

const require = createRequire(import.meta.url);

const PID_FILE_VARIABLE = "THREADWORKS_WORKERD_PID_FILE";
const PATH_VARIABLE = "MINIFLARE_WORKERD_PATH";

let users = 0;
let pathBefore: string | undefined;

/**
 * Makes the Miniflares of this process start workerd through a launcher. The launcher writes workerd's
 * process id into the file named by `runtimeEnv` (the id stays the same when the launcher becomes workerd),
 * and makes workerd ignore the terminal's signals: the parent decides when workerd ends.
 */
export function recordWorkerdPid(
  pidFile: string,
  project?: string,
): {
  runtimeEnv: Record<string, string>;
  stop: () => void;
} {
  if (users === 0) {
    pathBefore = process.env[PATH_VARIABLE];
    process.env[PATH_VARIABLE] = writeLauncher(join(homeOf(project), "launch-workerd"));
  }
  users += 1;
  const stop = (): void => {
    users -= 1;
    if (users > 0) return;
    if (pathBefore === undefined) delete process.env[PATH_VARIABLE];
    else process.env[PATH_VARIABLE] = pathBefore;
  };
  return { runtimeEnv: { [PID_FILE_VARIABLE]: pidFile }, stop };
}

function writeLauncher(file: string): string {
  // Miniflare's own copy is used, because another package may have installed a different version of workerd.
  const { default: workerd } = createRequire(require.resolve("miniflare"))("workerd") as {
    default: string;
  };
  const script = [
    "#!/bin/sh",
    "trap '' INT HUP TERM",
    `if [ -n "$${PID_FILE_VARIABLE}" ]; then echo $$ > "$${PID_FILE_VARIABLE}"; fi`,
    `exec ${shellQuote(workerd)} "$@"`,
  ];
  writeWhole(file, `${script.join("\n")}\n`, 0o755);
  return file;
}

export type Watchdog = {
  /** Tells the watchdog which workerd runs now; the pid file alone could be deleted with the state directory. */
  watch: () => void;
  stop: () => void;
};

/**
 * Starts a process that ends workerd when this process is gone, even after `kill -9`: it reads a pipe, which
 * only this process holds open, until its end.
 */
export function startWatchdog(pidFile: string): Watchdog {
  const script = [
    "pid=",
    "while IFS= read -r line; do pid=$line; done",
    'if [ -r "$1" ]; then pid=$(cat "$1"); rm -f "$1"; fi',
    '[ -n "$pid" ] || exit 0',
    'command=$(tr "\\0" " " < "/proc/$pid/cmdline" 2> /dev/null || ps -p "$pid" -o command= 2> /dev/null)',
    'case "$command" in *workerd*serve*) kill -9 "$pid" ;; esac',
  ];
  const child = spawn("/bin/sh", ["-c", script.join("\n"), "workerd-watchdog", pidFile], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    cwd: "/",
  });
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  // The platform continues when the watchdog was killed.
  child.stdin.on("error", () => {});
  return {
    watch: () => {
      if (existsSync(pidFile)) child.stdin.write(readFileSync(pidFile, "utf8"));
    },
    stop: () => void child.kill("SIGKILL"),
  };
}

/** Kills a process if it is a workerd. A reused process id may belong to another program. */
export function killWorkerd(pid: number): void {
  if (!Number.isSafeInteger(pid) || pid <= 1 || !isWorkerd(pid)) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended in the meantime.
  }
}

function isWorkerd(pid: number): boolean {
  return /workerd.*serve/.test(commandLine(pid));
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    const ps = spawnSync("ps", ["-p", String(pid), "-o", "command="], { encoding: "utf8" });
    return ps.stdout ?? "";
  }
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
