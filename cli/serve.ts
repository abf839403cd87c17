import { setTimeout as sleep } from "node:timers/promises";
import type { MiniflareOptions } from "miniflare";
import { parseSettings } from "../src/env.ts";
import type { Region } from "../src/lib/region.ts";
import { withTimeout } from "../src/lib/with-timeout.ts";
import { CliError } from "./cli-error.ts";
import type { D1 } from "./database/database.ts";
import { settingsFile } from "./installation.ts";
import { checkGraphs } from "./platform/check-graphs.ts";
import { startCronTicker } from "./platform/cron-ticker.ts";
import { type Build, buildPlatform } from "./platform/build-platform.ts";
import {
  chooseS3Port,
  type LocalS3,
  localS3,
  localS3Credentials,
  rememberS3Port,
} from "./platform/local-s3.ts";
import { answerDisk } from "./platform/local-disk.ts";
import { keptWorkerConfig } from "./platform/kept-config.ts";
import { prepareDatabases } from "./platform/local-databases.ts";
import { graphVariables } from "./platform/graph-variables.ts";
import { LocalSchemas } from "./platform/local-schemas.ts";
import { SourceMapTimer } from "./platform/late-source-map.ts";
import { loadMiniflare } from "./platform/miniflare.ts";
import { LogGate } from "./platform/log-gate.ts";
import { LogWriter } from "./platform/log-writer.ts";
import { DEFAULT_HOST, isPortFree } from "./platform/ports.ts";
import { reloadOnChange } from "./platform/reload-on-change.ts";
import { releaseAfterCrash } from "./platform/release-after-crash.ts";
import { startFailure } from "./platform/start-failure.ts";
import { makePrivateFolder } from "./platform/private-folder.ts";
import { acquireStateDir } from "./platform/state-dir.ts";
import { stateFailure } from "./platform/state-failure.ts";
import {
  createMiniflare,
  serveMiniflareOptions,
  type WorkerConfig,
} from "./platform/worker-options.ts";
import { keepRegion } from "./platform/state-region.ts";
import { databaseOf } from "./platform/worker-calls.ts";
import { recordWorkerdPid, startWatchdog } from "./platform/workerd-process.ts";
import type { LangGraphChoice } from "./project/langchain-source.ts";

/** When a start takes longer than this, something hangs: a busy machine may need a minute. */
const READY_TIMEOUT_MS = 120_000;
const READY_REQUEST_MS = 10_000;
const READY_POLL_MS = 25;

/** Milliseconds in which workerd is launched. After that this process waits for it, and has time for other work. */
const LAUNCH_MS = 150;

/** Maximum time that a start waits for graphs to load; later failures are still reported. */
const CHECK_WAIT_MS = 5_000;

export type PlatformOptions = {
  repoRoot: string;
  /** The project's `langgraph.json`, or its folder. */
  configPath: string;
  /** The folder of everything that survives a restart; one platform at a time can use it. */
  stateDir: string;
  /** Port to listen on; 0 for any free port. */
  port: number;
  host?: string;
  /** Whether to rebuild and reload when a source file changes. */
  watch: boolean;
  /** Whether to read schemas from the graphs' TypeScript types; on by default. */
  schemas?: boolean;
  /** Which LangChain the graphs are built with; the project's own by default. */
  langGraph?: LangGraphChoice;
  /** Variables that override those of `wrangler.toml` and `.dev.vars`. */
  vars?: Record<string, string>;
  /** The shell's variables. Graphs get those that their code names; these override the project's `env`. */
  shell?: NodeJS.ProcessEnv;
  /** Variables of the graphs that override all others. */
  env?: Record<string, string>;
  /** The Worker's entry module, in place of wrangler.toml's `main`. */
  workerMain?: string;
  /** The module that exports `defineGraphHost`, in place of this repository's. */
  graphHostModule?: string;
  /**
   * Releases the leases of a Worker that is gone. Called before the first start, and after each further start
   * of workerd.
   */
  releaseLeases?: (database: D1) => Promise<void>;
  /** Called with each migrated D1 database before the Worker starts. */
  prepareDatabase?: (database: D1, vars: Record<string, unknown>) => Promise<void>;
  onLog: (line: PlatformLog) => void;
};

export type PlatformLog = {
  source: "worker" | "platform";
  level: "info" | "warn" | "error";
  message: string;
};

export type Platform = {
  url: string;
  graphs: string[];
  /** Whether the project authenticates its users itself. */
  hasAuth: boolean;
  /** The Worker's variables, as configured. */
  vars: Record<string, unknown>;
  /** The bucket for exports, when its credentials are configured. */
  s3: LocalS3 | undefined;
  /** Fires the cron trigger now, in addition to every minute. */
  fireCron: () => Promise<void>;
  /**
   * Returns a D1 database through the Worker's binding, so that no other process opens its files and blocks
   * the Worker.
   */
  database: (binding: string) => D1;
  close: () => Promise<void>;
};

/**
 * Builds a project of graphs and serves it with the Worker under a local workerd. Resolves when the server
 * answers. Throws a `CliError` for problems that the user can solve.
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const host = options.host ?? DEFAULT_HOST;
  if (options.port !== 0 && !(await isPortFree(host, options.port))) {
    throw new CliError(`port ${options.port} on ${host} is in use; give another with --port`);
  }
  const state = acquireStateDir(options.stateDir);
  const cleanUps: (() => unknown)[] = [() => state.release()];
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= runAll(cleanUps));
  try {
    const settings = settingsFile(options.configPath);
    const config = await keptWorkerConfig(options.repoRoot, settings);
    // The bundler is a separate process, so everything else that the Worker needs is prepared meanwhile.
    const building = buildPlatform(options, config, state.buildDir);
    // The build folder must not be released before the build has ended.
    const settled = building.catch(() => {});
    cleanUps.push(() => settled);
    const s3PortWanted = await chooseS3Port(state.s3PortFile, options.port);
    keepRegion(state.path, regionOf(varsOf(config, options)));
    makePrivateFolder(state.persistPath);
    const { runtimeEnv, stop: stopRecording } = recordWorkerdPid(
      state.workerdPidFile,
      options.configPath,
    );
    cleanUps.push(stopRecording);
    const watchdog = startWatchdog(state.workerdPidFile);
    cleanUps.push(() => watchdog.stop());
    await prepareDatabases({
      config,
      persistPath: state.persistPath,
      runtimeEnv,
      prepare: async (database) => {
        await options.releaseLeases?.(database);
        await options.prepareDatabase?.(database, varsOf(config, options));
      },
    });
    loadMiniflare();
    const built = await building;
    const writer = new LogWriter(options.onLog);
    cleanUps.push(() => writer.written());
    const log = (level: PlatformLog["level"], message: string): void =>
      writer.log({ source: "platform", level, message });
    const warn = ({ project }: Build): void => {
      for (const message of project.warnings) log("warn", message);
    };
    warn(built);
    const gate = new LogGate(({ line, build }: { line: PlatformLog; build: Build }) =>
      writer.log(line, build.mapFrames),
    );
    const maps = new SourceMapTimer();
    cleanUps.push(() => maps.stop());
    const schemas = new LocalSchemas({
      repoRoot: options.repoRoot,
      warn: (message) => log("warn", message),
    });
    cleanUps.push(() => schemas.close());
    const optionsFor = (build: Build, port: number, s3Port: number): MiniflareOptions => {
      const credentials = localS3Credentials(varsOf(build.config, options));
      return serveMiniflareOptions(build.config, {
        persistPath: state.persistPath,
        runtimeEnv,
        modules: build.modules,
        consoleFolder: build.consoleFolder,
        host,
        port,
        vars: { PROJECT_ENV: JSON.stringify(graphVariables(build, options)), ...options.vars },
        ...(credentials === undefined ? {} : { s3: { port: s3Port, credentials } }),
        schemas: (request) => schemas.answer(request),
        calls: true,
        disk: () => answerDisk(state.path),
        onCrashRestart: () => {
          watchdog.watch();
          void takeOver();
        },
        onLog: ({ level, message }) => {
          const known = level === "warn" || level === "error" ? level : "info";
          gate.log({ line: { source: "worker", level: known, message }, build });
        },
      });
    };
    let fireCron = async (): Promise<void> => {};
    /**
     * Called after each later start of workerd: its queues were in memory, and the claims of the former one
     * have to be released.
     */
    const takeOver = async (): Promise<void> => {
      takingOver?.abort();
      const given = (takingOver = new AbortController());
      await releaseAfterCrash({
        release: async () => {
          for (const { binding } of built.config.databases) {
            await options.releaseLeases?.(databaseOf(miniflare, binding));
          }
        },
        signal: given.signal,
        warn: (message) => log("warn", message),
      });
      if (!given.signal.aborted) await fireCron();
    };
    let takingOver: AbortController | undefined;
    cleanUps.push(() => takingOver?.abort());
    const miniflare = createMiniflare(optionsFor(built, options.port, s3PortWanted));
    cleanUps.push(() => miniflare.dispose());
    const findSchemas = async ({ project }: Build): Promise<void> => {
      if (options.schemas ?? true) await schemas.find(project.typedSources);
    };
    const launched = sleep(LAUNCH_MS, undefined, { ref: false });
    const found = launched.then(() => (closing === undefined ? findSchemas(built) : undefined));
    // It is awaited when the server answers; a start that fails before does not await it.
    found.catch(() => {});
    const url = await gate.during(async () => {
      const listening = await started(built, miniflare.unsafeGetDirectURL());
      watchdog.watch();
      await untilAnswering(listening);
      return listening;
    });
    state.announce(url.origin);

    let checked: Build | undefined;
    /** Reports graphs that do not load, and starts to read the schemas of the project if they are not found. */
    const lookAt = async (build: Build, schemasFound: Promise<void>): Promise<void> => {
      checked = build;
      maps.serve(build.sourceMap);
      const { project } = build.project.typedSources;
      const { repoRoot } = options;
      const check = checkGraphs(miniflare, { project, repoRoot, mapFrames: build.mapFrames }).then(
        (problems) => {
          for (const message of checked === build ? problems : []) log("error", message);
        },
        (error: Error) => {
          // Another version is being served now, or the platform is closing.
          if (checked !== build || closing !== undefined) return;
          log("warn", `the graphs could not be checked: ${error.message}`);
        },
      );
      await schemasFound;
      await withTimeout(CHECK_WAIT_MS, check, () => undefined);
      void schemas.startReading();
    };
    await lookAt(built, found);

    const s3Port = Number((await miniflare.ready).port);
    const warnOf = (message: string): void => log("warn", message);
    const vars = varsOf(built.config, options);
    const credentials = localS3Credentials(vars);
    if (credentials !== undefined) rememberS3Port(state.s3PortFile, s3Port, warnOf);
    const { fire, stop } = startCronTicker(miniflare, built.config.crons, warnOf);
    fireCron = fire;
    cleanUps.push(stop);
    if (options.watch) {
      const stop = reloadOnChange({
        first: built,
        inputsOf: ({ inputs }) => inputs,
        build: async () => {
          const changed = await keptWorkerConfig(options.repoRoot, settings);
          return buildPlatform(options, changed, state.buildDir);
        },
        serve: async (build) => {
          await gate.during(async () => {
            const next = optionsFor(build, Number(url.port), s3Port);
            await started(build, miniflare.setOptions(next));
            watchdog.watch();
            await untilAnswering(url);
          });
          void takeOver();
          await lookAt(build, findSchemas(build));
        },
        onReloaded: (build) => {
          warn(build);
          log("info", `reloaded: ${build.project.graphs.join(", ")}`);
        },
        onFailed: (error) => log("error", `${error.message}\nstill serving the previous version`),
      });
      cleanUps.push(stop);
    }
    await writer.written();
    return {
      url: url.origin,
      graphs: built.project.graphs,
      hasAuth: built.project.hasAuth,
      vars,
      s3: credentials === undefined ? undefined : localS3(s3Port, credentials),
      fireCron,
      database: (binding) => databaseOf(miniflare, binding),
      close,
    };
  } catch (error) {
    // Closing would throw the same failure again.
    await close().catch(() => {});
    throw stateFailure(error, state.path);
  }
}

/** Returns the region as the Worker reads it. Throws a `CliError` for an unknown one. */
function regionOf(vars: Record<string, unknown>): Region {
  try {
    return parseSettings({ REGION: vars["REGION"] as string }).region;
  } catch (error) {
    throw new CliError((error as Error).message);
  }
}

function varsOf(config: WorkerConfig, options: PlatformOptions): Record<string, unknown> {
  return { ...config.miniflare.bindings, ...options.vars };
}

/** Waits for a start. When it fails, throws a `CliError` with the reason in terms of the source files. */
async function started<T>(build: Build, start: Promise<T>): Promise<T> {
  try {
    return await start;
  } catch (error) {
    throw new CliError(await build.mapFrames(startFailure(error)));
  }
}

async function untilAnswering(url: URL): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  let last = "no answer";
  while (Date.now() < deadline) {
    try {
      // Node's own `fetch` is loaded when it is first called, which takes 20 ms.
      const response = await loadMiniflare().fetch(new URL("/ok", url).href, {
        signal: AbortSignal.timeout(READY_REQUEST_MS),
      });
      const body = await response.text();
      if (response.ok) return;
      last = `${response.status} ${body.slice(0, 500)}`;
    } catch (error) {
      last = (error as Error).message;
    }
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
  throw new CliError(`the server did not become ready: GET /ok gave ${last}`);
}

/** Runs all clean-ups, the last one first, even when some fail; then throws the first failure. */
async function runAll(cleanUps: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const cleanUp of cleanUps.toReversed()) {
    try {
      await cleanUp();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
