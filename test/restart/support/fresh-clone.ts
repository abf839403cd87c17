import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort, hasExited, isPortFree, signalGroup } from "./platform-process.ts";
import { until } from "./until.ts";

const REPO_ROOT = resolve(import.meta.dirname, "../../..");
/** The packages of the root and those of its workspace. */
const INSTALLED = ["node_modules", "cli/node_modules"];
const START_TIMEOUT_MS = 180_000;
const END_TIMEOUT_MS = 60_000;

/** A folder with this repository's files, as in a clone, and with its packages installed. */
export class FreshClone {
  readonly path: string;
  #running: ChildProcess | undefined;
  #output = "";

  constructor() {
    this.path = mkdtempSync(join(tmpdir(), "threadworks-clone-"));
    const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    const files = execFileSync("git", list, { cwd: REPO_ROOT, encoding: "utf8" }).split("\0");
    for (const file of files) {
      // Git lists a removed file until the next commit.
      if (file !== "" && existsSync(join(REPO_ROOT, file))) {
        cpSync(join(REPO_ROOT, file), join(this.path, file));
      }
    }
    for (const folder of INSTALLED) {
      if (existsSync(join(REPO_ROOT, folder))) {
        symlinkSync(join(REPO_ROOT, folder), join(this.path, folder));
      }
    }
  }

  /** Returns a variable of its `.dev.vars`. */
  devVar(name: string): string {
    const text = readFileSync(join(this.path, ".dev.vars"), "utf8");
    const value = new RegExp(`^${name}=(.*)$`, "m").exec(text)?.[1];
    if (value === undefined) throw new Error(`.dev.vars has no ${name}`);
    return value;
  }

  /** Runs a command to its end, and resolves with its output. Throws when it fails. */
  async run(file: string, ...args: string[]): Promise<string> {
    const child = this.#spawn(file, args);
    try {
      await once(child, "close");
      if (child.exitCode === 0) return this.#output;
      throw new Error(`${file} ${args.join(" ")} failed:\n${this.#output}`);
    } finally {
      await this.end();
    }
  }

  /** Starts `wrangler dev` on a free port. Resolves with the port when it answers. */
  async startDev(): Promise<number> {
    const port = await freePort();
    const child = this.#spawn("npx", ["--no-install", "wrangler", "dev", "--port", String(port)]);
    const isAnswering = async (): Promise<boolean> => {
      if (hasExited(child)) throw new Error(`wrangler dev ended:\n${this.#output}`);
      // The port is taken before the Worker answers.
      return (await fetch(`http://127.0.0.1:${port}/ok`).catch(() => null))?.ok ?? false;
    };
    try {
      await until(isAnswering, START_TIMEOUT_MS, "an answer of wrangler dev");
    } catch (error) {
      throw new Error(`wrangler dev does not serve:\n${this.#output}`, { cause: error });
    }
    return port;
  }

  /** The output of the last command. */
  get output(): string {
    return this.#output;
  }

  /** Ends the running command and all processes that it started. */
  async end(port?: number): Promise<void> {
    const child = this.#running;
    this.#running = undefined;
    if (child?.pid === undefined) return;
    const exited = hasExited(child) ? null : once(child, "exit");
    signalGroup(child.pid, "SIGKILL");
    await exited;
    if (port !== undefined) await until(() => isPortFree(port), END_TIMEOUT_MS, "the port");
  }

  async dispose(): Promise<void> {
    await this.end();
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
  }

  #spawn(file: string, args: string[]): ChildProcess {
    this.#output = "";
    const child = spawn(file, args, {
      cwd: this.path,
      // The command has its own process group, so that one signal reaches all of it and nothing else.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        WRANGLER_SEND_METRICS: "false",
        WRANGLER_LOG_PATH: join(this.path, ".wrangler/logs"),
        WRANGLER_REGISTRY_PATH: join(this.path, ".wrangler/registry"),
      },
    });
    this.#running = child;
    const keep = (text: string): void => void (this.#output += text);
    child.stdout?.setEncoding("utf8").on("data", keep);
    child.stderr?.setEncoding("utf8").on("data", keep);
    return child;
  }
}
