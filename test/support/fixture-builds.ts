import { copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { buildPlatform, platformConfig } from "../../cli/platform/build-platform.ts";
import { prepareDatabases } from "../../cli/platform/local-databases.ts";
import {
  PROJECT_MODULE,
  TEMPLATES_MODULE,
  WORKER_MODULE,
} from "../../cli/platform/worker-bundle.ts";
import { buildProject } from "../../cli/project/build-project.ts";
import { TEMPLATES_FILE } from "../../cli/project/build-templates.ts";
import {
  builtProject,
  CONFIG_FILE,
  FIXTURES,
  PREPARED_EXAMPLES,
  PREPARED_STATE,
  REPO_ROOT,
} from "./built-fixtures.ts";

/** The projects that tests serve, and the configurations of `test/fixtures` that they are made from. */
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
const config = await platformConfig(options, buildDir);
const { vars } = unstable_readConfig(
  { config: join(REPO_ROOT, "wrangler.toml") },
  { hideWarnings: true },
);
writeFileSync(
  CONFIG_FILE,
  JSON.stringify({ ...config, miniflare: { ...config.miniflare, bindings: vars } }),
);
await buildPlatform(options, config, buildDir);
await prepareDatabases({
  config,
  persistPath: join(PREPARED_STATE, "v3"),
  runtimeEnv: {},
  prepare: async () => {},
});
// The Worker and the console are the same for all projects.
const examples = { repoRoot: REPO_ROOT, configPath: REPO_ROOT };
const examplesBuild = join(PREPARED_EXAMPLES, "build");
if (!existsSync(examplesBuild)) cpSync(buildDir, examplesBuild, { recursive: true });
await buildPlatform(examples, await platformConfig(examples, examplesBuild), examplesBuild);
for (const [name, configFile] of Object.entries(PROJECTS)) {
  const folder = builtProject(name);
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(buildDir, WORKER_MODULE), join(folder, WORKER_MODULE));
  copyFileSync(TEMPLATES_FILE, join(folder, TEMPLATES_MODULE));
  const { warnings } = await buildProject({
    configPath: join(FIXTURES, configFile),
    outFile: join(folder, PROJECT_MODULE),
    schemas: name === "project",
  });
  // Without the schemas, say, some tests would fail far away from the reason.
  if (warnings.length > 0) {
    throw new Error(`The fixtures did not build well: ${warnings.join()}`);
  }
}
