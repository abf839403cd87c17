import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describeError } from "../cli-error.ts";
import { consoleModules } from "../console/build-console.ts";
import { builtParts, CONSOLE_FOLDER, TEMPLATES_FILE } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { bundleWorker } from "../platform/worker-bundle.ts";
import { readWorkerConfig, type WorkerConfig } from "../platform/worker-options.ts";
import { buildProject } from "../project/build-project.ts";
import { buildTemplates, templateProjects } from "../project/build-templates.ts";
import { builderModules } from "../remote-builder/build-builder.ts";
import { bundleCli, bundleCreate, bundleGraphHost } from "./bundles.ts";
import { thirdPartyLicenses } from "./third-party-licenses.ts";
import { createManifest, packageManifest } from "./manifest.ts";

const OUT_DIR = join(REPO_ROOT, "dist/package");
const CREATE_DIR = join(REPO_ROOT, "dist/create-threadworks");

/** The file with the licences of all bundled packages. */
const LICENSES_FILE = "THIRD-PARTY-LICENSES";

/** Files of this repository that are copied into the package unchanged. */
const COPIED = ["LICENSE", "CHANGELOG.md", "migrations", "template", "wrangler.toml"];

/** Declares what `threadworks/testing` exports; appended to the types of `cli/testing/types.ts`. */
const TESTING_TYPES =
  "export declare function startPlatform(options: TestPlatformOptions): Promise<StartedPlatform>;\n";

/** Builds the npm package's folder, including everything that a checkout would build at its start. */
async function buildPackage(): Promise<void> {
  beginFolder(OUT_DIR, { copied: COPIED, manifest: packageManifest() });
  const parts = builtParts(join(OUT_DIR, "built"));
  mkdirSync(join(OUT_DIR, "built"));
  const config = await readWorkerConfig(OUT_DIR);
  const { modules: ofWorker } = await bundleWorker({
    repoRoot: REPO_ROOT,
    main: join(REPO_ROOT, "src/index.ts"),
    define: config.define,
    outFile: parts.worker,
    shipped: true,
  });
  writeFileSync(parts.config, JSON.stringify(movable(config)));
  await buildTemplates();
  cpSync(TEMPLATES_FILE, parts.templates);
  const ofConsole = await consoleModules();
  // The builder and the templates are written into the console's folder, and are copied with it.
  const ofBuilder = await builderModules();
  cpSync(CONSOLE_FOLDER, parts.console, { recursive: true });
  const ofPrograms = [...(await bundleGraphHost(OUT_DIR)), ...(await bundleCli(OUT_DIR))];
  const bundled = [ofWorker, ofConsole, ofBuilder, ofPrograms, await templateModules()].flat();
  writeFileSync(join(OUT_DIR, LICENSES_FILE), thirdPartyLicenses(bundled));
  const types = readFileSync(join(REPO_ROOT, "cli/testing/types.ts"), "utf8");
  writeFileSync(join(OUT_DIR, "cli/testing.d.ts"), `${types}\n${TESTING_TYPES}`);
  copySchemaTemplate();
  console.log(`Built ${OUT_DIR}.`);
}

/** Builds the package that `npm init threadworks` fetches. It contains the template and nothing of the platform. */
async function buildCreatePackage(): Promise<void> {
  beginFolder(CREATE_DIR, { copied: ["LICENSE", "template"], manifest: createManifest() });
  const bundled = await bundleCreate(CREATE_DIR);
  writeFileSync(join(CREATE_DIR, LICENSES_FILE), thirdPartyLicenses(bundled));
  console.log(`Built ${CREATE_DIR}.`);
}

/** Returns the files that the templates' tarballs are made of, because the tarballs do not list them. */
async function templateModules(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "threadworks-templates-"));
  try {
    const outFile = join(folder, "project.js");
    const modules: string[] = [];
    for (const [, configPath] of templateProjects()) {
      modules.push(...(await buildProject({ configPath, outFile, schemas: false })).modules);
    }
    return modules;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function beginFolder(
  folder: string,
  { copied, manifest }: { copied: readonly string[]; manifest: object },
): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of copied) {
    cpSync(join(REPO_ROOT, name), join(folder, name), { recursive: true, filter: isShipped });
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Copies the template that the schema reader expects in a folder of this name beside itself. */
function copySchemaTemplate(): void {
  const reader = createRequire(import.meta.url).resolve("@langchain/langgraph-api/schema");
  const name = "schema/types.template.mts";
  cpSync(join(dirname(reader), name), join(OUT_DIR, "cli", name));
}

/** Leaves out the migrations' snapshots, which only the tool that writes migrations needs. */
function isShipped(path: string): boolean {
  return !path.includes("/migrations/meta");
}

/** Returns the configuration without paths of this machine. Its reader adds those of the installed package. */
function movable({ miniflare, ...config }: WorkerConfig): object {
  const { rootPath: _rootPath, assets: _assets, ...rest } = miniflare;
  const databases = config.databases.map(({ binding, table, migrationsDir }) => ({
    binding,
    table,
    migrationsDir: migrationsDir?.slice(OUT_DIR.length + 1),
  }));
  return { ...config, main: "", databases, miniflare: rest };
}

try {
  await buildPackage();
  await buildCreatePackage();
} catch (error) {
  console.error(`error: ${describeError(error)}`);
  process.exit(1);
}
