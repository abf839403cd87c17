import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describeError } from "../cli-error.ts";
import { consoleModules, CONSOLE_FOLDER } from "../console/build-console.ts";
import { builtParts } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { bundleWorker } from "../platform/worker-bundle.ts";
import { readWorkerConfig, type WorkerConfig } from "../platform/worker-options.ts";
import { buildProject } from "../project/build-project.ts";
import { buildTemplates, templateProjects, TEMPLATES_FILE } from "../project/build-templates.ts";
import { builderModules } from "../remote-builder/build-builder.ts";
import { bundleCli, bundleCreate, bundleGraphHost } from "./bundles.ts";
import { thirdPartyLicenses } from "./third-party-licenses.ts";
import { createManifest, packageManifest } from "./manifest.ts";

const OUT_DIR = join(REPO_ROOT, "dist/package");
const CREATE_DIR = join(REPO_ROOT, "dist/create-threadworks");

/** The terms of whatever is bundled, in the folder of each package. */
const LICENSES_FILE = "THIRD-PARTY-LICENSES";

/** Files of this repository that are in the package as they are. */
const COPIED = ["LICENSE", "CHANGELOG.md", "migrations", "template", "wrangler.toml"];

/** Declares the types that `threadworks/testing` exports, after those of `cli/testing/types.ts`. */
const TESTING_TYPES =
  "export declare function startPlatform(options: TestPlatformOptions): Promise<StartedPlatform>;\n";

/** Builds what npm packs: the folder of the package with all that a checkout would build at its start. */
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
  // It lies beside the console's files, and so goes with them.
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

/** Builds the package that `npm init threadworks` fetches, which has the template and nothing of the platform. */
async function buildCreatePackage(): Promise<void> {
  beginFolder(CREATE_DIR, { copied: ["LICENSE", "template"], manifest: createManifest() });
  const bundled = await bundleCreate(CREATE_DIR);
  writeFileSync(join(CREATE_DIR, LICENSES_FILE), thirdPartyLicenses(bundled));
  console.log(`Built ${CREATE_DIR}.`);
}

/** What the templates' tarballs are made of: nothing in them says it. */
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

/** The reader of schemas reads a file that lies beside it, in a folder of this name. */
function copySchemaTemplate(): void {
  const reader = createRequire(import.meta.url).resolve("@langchain/langgraph-api/schema");
  const name = "schema/types.template.mts";
  cpSync(join(dirname(reader), name), join(OUT_DIR, "cli", name));
}

/** The migrations' snapshots are of the tool that writes migrations. */
function isShipped(path: string): boolean {
  return !path.includes("/migrations/meta");
}

/** Without the paths of this machine: the reader puts in those of where the package is. */
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
