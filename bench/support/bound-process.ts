import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureLocalWorkspace } from "../../cli/database/identity.ts";
import { type Database, localDatabase } from "../../cli/database/database.ts";
import { prepareDatabases } from "../../cli/platform/local-databases.ts";
import { acquireStateDir } from "../../cli/platform/state-dir.ts";
import { bundleWorker } from "../../cli/platform/worker-bundle.ts";
import { WORKER_MODULE } from "../../cli/platform/worker-modules.ts";
import {
  createMiniflare,
  readWorkerConfig,
  serveMiniflareOptions,
} from "../../cli/platform/worker-options.ts";
import { recordWorkerdPid, startWatchdog } from "../../cli/platform/workerd-process.ts";
import { DEFAULT_DEPLOYMENT_ID } from "../../src/lib/scope.ts";
import { REPO_ROOT } from "./paths.ts";
import type { BoundOptions, BoundWorkspace } from "./start-bound.ts";

const [stateDir, json] = process.argv.slice(2);
if (stateDir === undefined || json === undefined) {
  throw new Error("usage: bound-process.ts <state> <options as JSON>");
}
const { main, objects, workspace } = JSON.parse(json) as BoundOptions;

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

const { compatibilityDate, compatibilityFlags, d1Databases } = config.miniflare;
if (compatibilityDate === undefined) throw new Error("wrangler.toml gives no compatibility_date");
const { runtimeEnv } = recordWorkerdPid(state.workerdPidFile);
if (workspace !== null) {
  await prepareDatabases({
    config,
    persistPath: state.persistPath,
    runtimeEnv,
    prepare: (database) => addWorkspace(localDatabase(database), workspace),
  });
}
const watchdog = startWatchdog(state.workerdPidFile);
const miniflare = createMiniflare(
  serveMiniflareOptions(
    {
      ...config,
      miniflare: {
        compatibilityDate,
        compatibilityFlags: compatibilityFlags ?? [],
        durableObjects: Object.fromEntries(
          Object.entries(objects).map(([binding, className]) => [
            binding,
            { className, useSQLite: true },
          ]),
        ),
        ...(workspace === null || d1Databases === undefined ? {} : { d1Databases }),
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

/** Adds the workspace with its key, and the assistant that clients name by its graph. */
async function addWorkspace(
  database: Database,
  { workspaceId, apiKey, graphId }: BoundWorkspace,
): Promise<void> {
  await ensureLocalWorkspace(database, { workspaceId, apiKey });
  await database.run(
    `INSERT INTO assistants (workspace_id, deployment_id, assistant_id, version, graph_id, name, config, context,
       metadata, created_at, updated_at)
     VALUES (?1, ?2, ?3, 1, ?3, ?3, '{}', '{}', '{}', ?4, ?4) ON CONFLICT DO NOTHING`,
    [workspaceId, DEFAULT_DEPLOYMENT_ID, graphId, Date.now()],
  );
}

async function stop(): Promise<void> {
  await miniflare.dispose();
  watchdog.stop();
  state.release();
  process.exit();
}
process.on("SIGTERM", () => void stop());
process.on("disconnect", () => void stop());
process.send?.({ url: url.origin });
