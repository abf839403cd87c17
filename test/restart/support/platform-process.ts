import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { type LocalS3, localS3 } from "../../../cli/platform/local-s3.ts";
import { REPO_ROOT, seedState } from "../../support/built-fixtures.ts";
import { until } from "./until.ts";

const PROJECT = join(REPO_ROOT, "test/fixtures/langgraph.json");
const START_TIMEOUT_MS = 180_000;
const END_TIMEOUT_MS = 60_000;
const KEPT_OUTPUT_CHARS = 4000;
const START_ATTEMPTS = 3;
const PORT_TAKEN = "Address already in use";

/** Below the range from which systems take the ports of outgoing connections, which could take ours. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;

type Started = { child: ChildProcess; pid: number; workerdPid: number };

/**
 * The process of `npm start` on a new state directory, which survives the process: it can be ended in every way and
 * started again on the same port.
 */
export class PlatformProcess {
  readonly stateDir: string;
  readonly port: number;
  readonly client: Client;
  readonly #ownsStateDir: boolean;
  readonly #vars: Record<string, string>;
  #started: Started | undefined;
  #output = "";

  private constructor(
    port: number,
    stateDir: string | undefined,
    vars: Record<string, string> = {},
  ) {
    this.port = port;
    this.#vars = vars;
    this.#ownsStateDir = stateDir === undefined;
    this.stateDir = stateDir ?? mkdtempSync(join(tmpdir(), "threadworks-restart-"));
    if (this.#ownsStateDir) seedState(this.stateDir);
    // Tests decide themselves how to handle a failed request.
    this.client = new Client({ apiUrl: this.url, callerOptions: { maxRetries: 0 } });
  }

  /** Starts on a new state directory, unless one is given. The variables override those of `.dev.vars`. */
  static async start(
    options: { stateDir?: string; vars?: Record<string, string> } = {},
  ): Promise<PlatformProcess> {
    for (let attempt = 1; ; attempt += 1) {
      const platform = new PlatformProcess(await freePort(), options.stateDir, options.vars);
      try {
        await platform.start();
        return platform;
      } catch (error) {
        await platform.dispose();
        // Another test's server may have taken the port since it was found free.
        if (attempt === START_ATTEMPTS || !platform.output.includes(PORT_TAKEN)) throw error;
      }
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The API key of the workspace that `npm start` sets up. */
  get apiKey(): string {
    return devVar("LOCAL_API_KEY");
  }

  /** The bucket of `npm start`, whose address survives restarts of the process. */
  get s3(): LocalS3 {
    return localS3(Number(readFileSync(join(this.stateDir, "s3-port"), "utf8")), {
      accessKeyId: devVar("LOCAL_S3_ACCESS_KEY_ID"),
      secretAccessKey: devVar("LOCAL_S3_SECRET_ACCESS_KEY"),
    });
  }

  /** The latest output of the process, over all of its starts. */
  get output(): string {
    return this.#output;
  }

  /** Process ids of the script that `npm start` runs, its child server, and the server's child workerd. */
  get pids(): { launcher: number; server: number; workerd: number } {
    const { pid, workerdPid } = this.#running();
    const owner: { pid: number } = JSON.parse(
      readFileSync(join(this.stateDir, "run/owner.json"), "utf8"),
    );
    return { launcher: pid, server: owner.pid, workerd: workerdPid };
  }

  async start(): Promise<void> {
    const vars = Object.entries(this.#vars).flatMap(([name, text]) => ["--var", `${name}=${text}`]);
    const args = [
      "--port",
      String(this.port),
      "--state",
      this.stateDir,
      "--config",
      PROJECT,
      ...vars,
    ];
    const child = spawn(process.execPath, [join(REPO_ROOT, "scripts/start.mjs"), ...args], {
      cwd: REPO_ROOT,
      // The process has its own group, so that one signal reaches all of it and nothing else.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: environment(),
    });
    const { pid } = child;
    if (pid === undefined) throw new Error("the platform's process did not start");
    this.#started = { child, pid, workerdPid: 0 };
    await this.#untilReady(child);
    this.#started = { child, pid, workerdPid: this.#workerdPid() };
  }

  /** Kills everything at once, as a power cut would. */
  async kill(): Promise<void> {
    const { child, pid, workerdPid } = this.#running();
    const exited = hasExited(child) ? null : once(child, "exit");
    signalGroup(pid, "SIGKILL");
    await exited;
    await until(
      async () => !isAlive(workerdPid) && (await isPortFree(this.port)),
      END_TIMEOUT_MS,
      "the end of workerd",
    );
    this.#started = undefined;
  }

  /** Kills workerd alone, which the server then starts again. Resolves when it answers. */
  async crash(): Promise<void> {
    const { child, pid, workerdPid } = this.#running();
    process.kill(workerdPid, "SIGKILL");
    await until(
      async () => this.#workerdPid() !== workerdPid && (await this.#isAnswering()),
      START_TIMEOUT_MS,
      "another workerd",
    );
    this.#started = { child, pid, workerdPid: this.#workerdPid() };
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** Sends the signal, and resolves with the exit code. */
  async stop(signal: "SIGTERM" | "SIGINT"): Promise<number | null> {
    const { child } = this.#running();
    child.kill(signal);
    return this.ended();
  }

  /** Resolves with the exit code when the process has ended by itself. */
  async ended(): Promise<number | null> {
    const { child } = this.#running();
    await until(() => hasExited(child), END_TIMEOUT_MS, "the end of the platform's process");
    this.#started = undefined;
    return child.exitCode;
  }

  /** Kills what is still running, and removes the state. */
  async dispose(): Promise<void> {
    if (this.#started !== undefined) await this.kill();
    if (this.#ownsStateDir) rmSync(this.stateDir, { recursive: true, force: true, maxRetries: 5 });
  }

  async #isAnswering(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/ok`)).ok;
    } catch {
      return false;
    }
  }

  #running(): Started {
    if (this.#started === undefined) throw new Error("the platform is not running");
    return this.#started;
  }

  async #untilReady(child: ChildProcess): Promise<void> {
    let ready = false;
    let line = "";
    const keep = (text: string): void => {
      this.#output = (this.#output + text).slice(-KEPT_OUTPUT_CHARS);
    };
    child.stderr?.setEncoding("utf8").on("data", keep);
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      keep(text);
      const lines = (line + text).split("\n");
      line = lines.pop() ?? "";
      ready ||= lines.some((complete) => complete.startsWith("ready"));
    });
    try {
      await until(() => ready || hasExited(child), START_TIMEOUT_MS, "the line `ready`");
    } catch (error) {
      throw new Error(`the platform did not start:\n${this.#output}`, { cause: error });
    }
    if (!ready) throw new Error(`the platform ended while it started:\n${this.#output}`);
  }

  #workerdPid(): number {
    const runDir = join(this.stateDir, "run");
    const file = readdirSync(runDir).find((name) => /^workerd-\d+\.pid$/.test(name));
    if (file === undefined) throw new Error(`no workerd is named in ${runDir}`);
    return Number(readFileSync(join(runDir, file), "utf8"));
  }
}

export function isAlive(pid: number): boolean {
  if (pid === 0) return false;
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A process that has ended but was not waited for yet still answers to signals.
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : "";
  return !/^\d+ \(.*\) [ZX]/s.test(stat);
}

export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    if (await isPortFree(port)) return port;
  }
}

export function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The whole group has ended already.
  }
}

function devVar(name: string): string {
  const text = readFileSync(join(REPO_ROOT, ".dev.vars"), "utf8");
  const value = new RegExp(`^${name}=(.*)$`, "m").exec(text)?.[1];
  if (value === undefined) throw new Error(`.dev.vars has no ${name}`);
  return value;
}

/** Returns an environment other than the test's own: the script would mistake the test's npm for its own. */
function environment(): NodeJS.ProcessEnv {
  const { npm_lifecycle_event: _event, NODE_OPTIONS: _options, ...rest } = process.env;
  return rest;
}
