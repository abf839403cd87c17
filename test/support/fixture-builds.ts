import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { buildPlatform } from "../../cli/platform/build-platform.ts";
import { builtWorker } from "../../cli/platform/built-worker.ts";
import { keptWorkerConfig } from "../../cli/platform/kept-config.ts";
import { prepareDatabases } from "../../cli/platform/local-databases.ts";
import { PROJECT_MODULE } from "../../cli/platform/worker-modules.ts";
import { buildProject } from "../../cli/project/build-project.ts";
import {
  BUILT_WORKER,
  builtProject,
  CONFIG_FILE,
  FIXTURES,
  PREPARED_EXAMPLES,
  PREPARED_STATE,
  REPO_ROOT,
} from "./built-fixtures.ts";

/** The projects that tests serve, by the configurations of `test/fixtures` that they are built from. */
const PROJECTS = {
  project: "langgraph.json",
  "custom-auth": "custom-auth/langgraph.json",
  authenticated: "custom-auth/authenticated.langgraph.json",
  indexed: "indexed/langgraph.json",
  agents: "agents/langgraph.json",
  webhooks: "custom-auth/webhooks.langgraph.json",
  routes: "routes/langgraph.json",
  "guarded-routes": "routes/guarded.langgraph.json",
  "open-routes": "routes/open.langgraph.json",
  walk: "walk/langgraph.json",
  "guarded-walk": "walk/guarded.langgraph.json",
};

const buildDir = join(PREPARED_STATE, "build");
const configPath = join(FIXTURES, PROJECTS.project);
const options = { repoRoot: REPO_ROOT, configPath };
const config = await keptWorkerConfig(REPO_ROOT);
const { vars } = unstable_readConfig(
  { config: join(REPO_ROOT, "wrangler.toml") },
  { hideWarnings: true },
);
mkdirSync(dirname(CONFIG_FILE), { recursive: true });
writeFileSync(
  CONFIG_FILE,
  JSON.stringify({ ...config, miniflare: { ...config.miniflare, bindings: vars } }),
);
await buildPlatform(options, config, buildDir);
const worker = await builtWorker({ ...options, main: config.main, define: config.define });
cpSync(worker.folder, BUILT_WORKER, { recursive: true });
await prepareDatabases({
  config,
  persistPath: join(PREPARED_STATE, "v3"),
  runtimeEnv: {},
  prepare: async () => {},
});
const examples = { repoRoot: REPO_ROOT, configPath: REPO_ROOT };
await buildPlatform(examples, config, join(PREPARED_EXAMPLES, "build"));
for (const [name, configFile] of Object.entries(PROJECTS)) {
  const folder = builtProject(name);
  mkdirSync(folder, { recursive: true });
  const { warnings } = await buildProject({
    configPath: join(FIXTURES, configFile),
    outFile: join(folder, PROJECT_MODULE),
    schemas: name === "project",
  });
  // With warnings, such as missing schemas, some tests would fail far away from the cause.
  if (warnings.length > 0) {
    throw new Error(`The fixtures did not build well: ${warnings.join()}`);
  }
}
