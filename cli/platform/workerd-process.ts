import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

const PID_FILE_VARIABLE = "THREADWORKS_WORKERD_PID_FILE";

/**
 * Makes every Miniflare of this process start workerd through a program that records workerd's process
 * id (it stays the same when the program becomes workerd) and keeps the terminal's signals away from
 * it: the parent decides when workerd ends. Returns the environment that names the file for the id.
 */
export function recordWorkerdPid(pidFile: string): Record<string, string> {
  // Miniflare's own copy: another package may have a workerd of another version installed.
  const { default: workerd } = createRequire(require.resolve("miniflare"))("workerd") as {
    default: string;
  };
  const launcher = join(dirname(pidFile), "launch-workerd");
  const script = [
    "#!/bin/sh",
    "trap '' INT HUP TERM",
    `if [ -n "$${PID_FILE_VARIABLE}" ]; then echo $$ > "$${PID_FILE_VARIABLE}"; fi`,
    `exec ${shellQuote(workerd)} "$@"`,
  ];
  writeFileSync(launcher, `${script.join("\n")}\n`, { mode: 0o755 });
  process.env["MINIFLARE_WORKERD_PATH"] = launcher;
  return { [PID_FILE_VARIABLE]: pidFile };
}

/**
 * Starts a process that ends workerd when this one is gone, even by `kill -9`: it waits for the end of
 * a pipe that only this process holds open. Returns a function that sends it away.
 */
export function startWatchdog(pidFile: string): () => void {
  const script = [
    "cat > /dev/null",
    'pid=$(cat "$1" 2> /dev/null) || exit 0',
    'command=$(tr "\\0" " " < "/proc/$pid/cmdline" 2> /dev/null || ps -p "$pid" -o command= 2> /dev/null)',
    'case "$command" in *workerd*serve*) kill -9 "$pid" ;; esac',
    'rm -f "$1"',
  ];
  const child = spawn("/bin/sh", ["-c", script.join("\n"), "workerd-watchdog", pidFile], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    cwd: "/",
  });
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return () => child.kill("SIGKILL");
}

/** Kills a process if it is a workerd; a recycled process id belongs to somebody else. */
export function killWorkerd(pid: number): void {
  if (!Number.isSafeInteger(pid) || pid <= 1 || !isWorkerd(pid)) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself in between.
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
