import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { acquireStateDir } from "../../cli/platform/state-dir.ts";
import { bundleWorker } from "../../cli/platform/worker-bundle.ts";
import { WORKER_MODULE } from "../../cli/platform/worker-modules.ts";
import {
  createMiniflare,
  readWorkerConfig,
  serveMiniflareOptions,
} from "../../cli/platform/worker-options.ts";
import { recordWorkerdPid, startWatchdog } from "../../cli/platform/workerd-process.ts";
import { REPO_ROOT } from "./paths.ts";

const [stateDir, main, binding, className] = process.argv.slice(2);
if (
  stateDir === undefined ||
  main === undefined ||
  binding === undefined ||
  className === undefined
) {
  throw new Error("usage: bound-process.ts <state> <main> <binding> <class>");
}

const state = acquireStateDir(stateDir);
mkdirSync(state.buildDir, { recursive: true });
const outFile = join(state.buildDir, WORKER_MODULE);
const config = await readWorkerConfig(REPO_ROOT);
await bundleWorker({
  repoRoot: REPO_ROOT,
  main,
  define: config.define,
  outFile,
});

const { compatibilityDate, compatibilityFlags } = config.miniflare;
if (compatibilityDate === undefined) throw new Error("wrangler.toml gives no compatibility_date");
const { runtimeEnv } = recordWorkerdPid(state.workerdPidFile);
const watchdog = startWatchdog(state.workerdPidFile);
const miniflare = createMiniflare(
  serveMiniflareOptions(
    {
      ...config,
      miniflare: {
        compatibilityDate,
        compatibilityFlags: compatibilityFlags ?? [],
        durableObjects: { [binding]: { className, useSQLite: true } },
      },
    },
    {
      persistPath: state.persistPath,
      runtimeEnv,
      modules: [
        { type: "ESModule", path: `/${WORKER_MODULE}`, contents: readFileSync(outFile, "utf8") },
      ],
      host: "127.0.0.1",
      port: 0,
      vars: {},
      onCrashRestart: () => watchdog.watch(),
      onLog: ({ message }) => console.error(message),
    },
  ),
);
const url = await miniflare.unsafeGetDirectURL();
watchdog.watch();

async function stop(): Promise<void> {
  await miniflare.dispose();
  watchdog.stop();
  state.release();
  process.exit();
}
process.on("SIGTERM", () => void stop());
process.on("disconnect", () => void stop());
process.send?.({ url: url.origin });
