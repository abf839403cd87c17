import { describeError } from "./cli-error.ts";
import { localDatabase } from "./database/database.ts";
import { releaseLeases } from "../src/db/tools/release-leases.ts";
import { ensureLocalWorkspace } from "./database/identity.ts";
import { prepareHome } from "./prepare-home.ts";
import { ownVersion, REPO_ROOT } from "./invocation.ts";
import type { LocalS3 } from "./platform/local-s3.ts";
import { whenParentEnds } from "./platform/parent-process.ts";
import { DEFAULT_HOST, nextFreePort } from "./platform/ports.ts";
import { loadProjectConfig } from "./project/langgraph-json.ts";
import { startPlatform, type Platform, type PlatformLog } from "./serve.ts";
import { DEFAULT_PORT, readStartOptions, type StartOptions } from "./start-options.ts";
import { textOrEmpty } from "../src/lib/json.ts";

const CLOSE_TIMEOUT_MS = 4_500;

let running: Platform | undefined;
let ending = false;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void end());
whenParentEnds(() => void end());
// The terminal was closed, or the reader of a pipe is gone, so the server ends.
process.stdout.on("error", () => void end());

if (import.meta.main) await leaveOnFailure(() => serve(readStartOptions(process.argv.slice(2))));

/** Serves until a signal arrives, or exits with a message that says why it cannot. */
export async function start(options: StartOptions): Promise<void> {
  await leaveOnFailure(() => serve(options));
}

async function leaveOnFailure(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!ending) {
      console.error(`error: ${describeError(error)}`);
      process.exit(1);
    }
  }
}

async function serve(options: StartOptions): Promise<void> {
  const port = options.port ?? (await nextFreePort(options.host, DEFAULT_PORT));
  if (options.port === undefined && port !== DEFAULT_PORT) {
    console.log(`Port ${DEFAULT_PORT} is in use; using ${port}.`);
  }
  await prepareHome(loadProjectConfig(options.configPath).projectDir);
  running = await startPlatform({
    repoRoot: REPO_ROOT,
    configPath: options.configPath,
    stateDir: options.stateDir,
    port,
    host: options.host,
    watch: options.watch,
    langGraph: options.langGraph,
    // By default requests are not logged: a line for each costs a local server a good part of its throughput.
    vars: { LOG_LEVEL: options.logLevel, ...options.vars },
    shell: process.env,
    releaseLeases: (database) => releaseLeases(localDatabase(database)),
    prepareDatabase: (binding, vars) =>
      ensureLocalWorkspace(localDatabase(binding, vars["REGION"] === "eu" ? "eu" : "us"), {
        workspaceId: textOrEmpty(vars["AGENT_WORKSPACE_ID"]),
        apiKey: textOrEmpty(vars["LOCAL_API_KEY"]),
      }),
    onLog: printLog,
  });
  printBanner(running, options.host);
}

function printBanner(platform: Platform, host: string): void {
  const url =
    host === DEFAULT_HOST ? platform.url.replace(DEFAULT_HOST, "localhost") : platform.url;
  const key = textOrEmpty(platform.vars["LOCAL_API_KEY"]);
  const rows = [
    ["console", consoleUrl(url, key)],
    ["agent server", url],
    ["API reference", `${url}/docs`],
    ["graphs", platform.graphs.join(", ")],
    ...(key === "" ? [] : [["API key", key]]),
    ...s3Rows(platform.s3),
  ];
  const lines = rows.map(([name = "", value]) => `  ${name.padEnd(15)}${value}`);
  console.log(`\n  Threadworks ${ownVersion()}\n\n${lines.join("\n")}`);
  if (platform.hasAuth) {
    console.log("\n  The project authenticates the users of the agent server.");
  } else if (platform.vars["AGENT_AUTH"] === "none") {
    console.log(`\n  AGENT_AUTH is "none": the agent server accepts requests without a key.`);
  }
  console.log(`\nready  ${url}`);
}

/**
 * Returns the console's URL. The key is in the fragment, which browsers do not send to servers, and the page
 * removes it from the address.
 */
function consoleUrl(url: string, key: string): string {
  return key === "" ? `${url}/console` : `${url}/console#key=${key}`;
}

/** Returns what a destination of exports needs for writing into this machine's bucket. */
function s3Rows(s3: LocalS3 | undefined): string[][] {
  if (s3 === undefined) return [];
  return [
    ["S3 endpoint", s3.endpoint],
    ["S3 bucket", s3.bucket],
    ["S3 key id", s3.accessKeyId],
    ["S3 secret", s3.secretAccessKey],
  ];
}

function printLog({ source, level, message }: PlatformLog): void {
  if (source === "worker" || level === "info") console.log(message);
  else console.error(`${level === "warn" ? "warning" : "error"}: ${message}`);
}

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS).unref();
  try {
    await running?.close();
    process.exit(0);
  } catch {
    process.exit(1);
  }
}
