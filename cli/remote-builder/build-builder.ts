import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { BUILT, CONSOLE_FOLDER } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { unlessUnchanged } from "../platform/build-record.ts";
import { nodeBuiltinsPlugin } from "../project/node-modules.ts";
import { bundledModules, isInstalled, WORKERD_BUILD_OPTIONS } from "../project/workerd-build.ts";
import { runEsbuild } from "../project/run-esbuild.ts";
import { typeReaderModules } from "../type-reader/build-type-reader.ts";

/** Stored beside the console's files, so that the platform reads them through the console's binding. */
const FOLDER = join(CONSOLE_FOLDER, "builder");
const RECORD = join(REPO_ROOT, ".threadworks/builder.json");
/**
 * The modules of an isolate, and their digest, by which bundles from another version of the builder are
 * recognised.
 */
const MODULES = ["builder.js", "shared.js", "ui-bundler.js", "graph-host.js", "esbuild.wasm"];
const VERSION = "version.txt";
const HERE = import.meta.dirname;

/** Modules that the code for bundling on Node imports, and their replacements in the isolate. */
const REPLACED: Readonly<Record<string, string>> = {
  esbuild: "esbuild-wasm.ts",
  fs: "node-fs.ts",
  "fs/promises": "node-fs.ts",
  "node:fs": "node-fs.ts",
  "node:fs/promises": "node-fs.ts",
  "graceful-fs": "node-fs.ts",
  "./check-auth.ts": "without-processes.ts",
  "./build-ui.ts": "without-processes.ts",
  "./bundle-graphs.ts": "bundle-graphs.ts",
  "./extract-schemas.ts": "extract-schemas.ts",
  "./run-esbuild.ts": "esbuild-wasm.ts",
  "@tailwindcss/oxide": "styles/oxide.ts",
  "enhanced-resolve": "styles/enhanced-resolve.ts",
  jiti: "styles/native-parts.ts",
  lightningcss: "styles/native-parts.ts",
};

/** Files that the bundler of components reads besides its own code, and their paths in the isolate. */
const UI_FILES: Readonly<Record<string, string>> = {
  "@langchain/langgraph-ui/dist/render.template.mts": "/platform/cli/render.template.mts",
  // These are below the last folder in which modules are looked up, so a project need not have installed
  // Tailwind for its styles.
  ...Object.fromEntries(
    ["package.json", "index.css", "preflight.css", "theme.css", "utilities.css"].map((name) => [
      `tailwindcss/${name}`,
      `/node_modules/tailwindcss/${name}`,
    ]),
  ),
};

/** The packages that the graph host takes from the project. */
const OF_PROJECT = [
  "@langchain/core",
  "@langchain/langgraph",
  "@langchain/langgraph-checkpoint",
  "@langchain/langgraph-sdk",
];

/**
 * Modules of these packages that old versions lack. A build on Node finds them in this repository's own
 * packages, beside the graph host; the isolate has them as complete bundles.
 */
const LACKED_BY_OLD = ["@langchain/langgraph-sdk/auth", "@langchain/langgraph/zod/schema"];

/**
 * Builds the modules with which an isolate builds projects, unless they are unchanged: the code of
 * `cli/project` with esbuild as WebAssembly, the graph host that is bundled with the graphs, and the reader
 * of types. Returns the source files that a developer may edit. A package contains these modules prebuilt.
 */
export async function buildBuilder(): Promise<string[]> {
  return (await builderModules()).filter((file) => !isInstalled(file));
}

/** Builds the same, and returns all files that were bundled, including those of installed packages. */
export async function builderModules(): Promise<string[]> {
  if (BUILT !== undefined) return [];
  mkdirSync(FOLDER, { recursive: true });
  const ofTypes = await typeReaderModules();
  const ofBuilder = await unlessUnchanged({
    recordFile: RECORD,
    key: [HERE, "with modules"],
    outputs: [...MODULES, VERSION].map((name) => join(FOLDER, name)),
    build: async () => {
      const lacked = await Promise.all(LACKED_BY_OLD.map((name) => bundleLacked(name)));
      const hostModules = Object.fromEntries(lacked.map(({ name, text }) => [name, text]));
      const uiFiles = uiFileTexts();
      const inputs = [
        ...lacked.flatMap((module) => module.inputs),
        ...(await bundleBuilder({ "host-modules": hostModules, "ui-files": uiFiles })),
        ...(await bundleGraphHost()),
      ];
      const wasm = createRequire(import.meta.url).resolve("esbuild-wasm/esbuild.wasm");
      writeFileSync(join(FOLDER, "esbuild.wasm"), await readFile(wasm));
      const hash = createHash("sha256");
      for (const name of MODULES) hash.update(await readFile(join(FOLDER, name)));
      writeFileSync(join(FOLDER, VERSION), hash.digest("hex"));
      const tools = [import.meta.filename, join(REPO_ROOT, "package-lock.json")];
      return { result: [...inputs, wasm], inputs: [...new Set([...inputs, ...tools])] };
    },
  });
  return [...ofBuilder, ...ofTypes];
}

/**
 * Bundles the builder, the bundler of components, and a third module with the code that both share. `texts`
 * are the contents of JSON modules.
 */
async function bundleBuilder(texts: Record<string, Record<string, string>>): Promise<string[]> {
  const names = Object.keys(REPLACED).map((name) => name.replaceAll(/[./]/g, String.raw`\$&`));
  const { metafile } = await runEsbuild({
    absWorkingDir: REPO_ROOT,
    bundle: true,
    format: "esm",
    platform: "node",
    conditions: ["workerd"],
    entryPoints: [join(HERE, "builder.ts"), join(HERE, "ui-bundler.ts")],
    outdir: FOLDER,
    splitting: true,
    chunkNames: "shared",
    external: ["cloudflare:*", "./esbuild.wasm", "./graph-host.js"],
    // The folder of the platform's sources in the isolate's file system.
    define: {
      "import.meta.dirname": '"/platform/cli"',
      "import.meta.url": '"file:///platform/cli/"',
      // Keeps Tailwind from registering hooks of Node's module loader.
      "process.versions.bun": '"none"',
    },
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire("/");',
    },
    minifyWhitespace: true,
    minifySyntax: true,
    metafile: true,
    logLevel: "silent",
    plugins: [
      {
        name: "in-isolate",
        setup(build) {
          build.onResolve({ filter: new RegExp(`^(?:${names.join("|")})$`) }, ({ path }) => ({
            path: join(HERE, REPLACED[path] ?? path),
          }));
          build.onResolve({ filter: /^\.\/(?:host-modules|ui-files)\.json$/ }, ({ path }) => ({
            path: basename(path, ".json"),
            namespace: "texts",
          }));
          build.onLoad({ filter: /.*/, namespace: "texts" }, ({ path }) => ({
            contents: JSON.stringify(texts[path]),
            loader: "json",
          }));
        },
      },
      nodeBuiltinsPlugin(),
    ],
  });
  return bundledModules(metafile, REPO_ROOT);
}

function uiFileTexts(): Record<string, string> {
  const { resolve } = createRequire(import.meta.url);
  return Object.fromEntries(
    Object.entries(UI_FILES).map(([name, path]) => [path, readFileSync(resolve(name), "utf8")]),
  );
}

async function bundleGraphHost(): Promise<string[]> {
  const { metafile } = await runEsbuild({
    ...WORKERD_BUILD_OPTIONS,
    absWorkingDir: REPO_ROOT,
    entryPoints: [join(REPO_ROOT, "src/graph-runtime/graph-host.ts")],
    outfile: join(FOLDER, "graph-host.js"),
    external: [...WORKERD_BUILD_OPTIONS.external, "node:*", ...OF_PROJECT],
    sourcemap: false,
  });
  return bundledModules(metafile, REPO_ROOT);
}

async function bundleLacked(
  name: string,
): Promise<{ name: string; text: string; inputs: string[] }> {
  const { metafile, outputFiles } = await runEsbuild({
    ...WORKERD_BUILD_OPTIONS,
    absWorkingDir: REPO_ROOT,
    stdin: { contents: `export * from ${JSON.stringify(name)};`, resolveDir: HERE },
    external: [...WORKERD_BUILD_OPTIONS.external, "node:*"],
    minify: true,
    sourcemap: false,
    write: false,
    metafile: true,
  });
  const inputs = bundledModules(metafile, REPO_ROOT);
  return { name, text: outputFiles[0]?.text ?? "", inputs };
}
