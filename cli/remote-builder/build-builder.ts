import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { CONSOLE_FOLDER } from "../console/build-console.ts";
import { BUILT } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { unlessUnchanged } from "../platform/build-record.ts";
import { nodeBuiltinsPlugin } from "../project/node-modules.ts";
import { bundledModules, isInstalled, WORKERD_BUILD_OPTIONS } from "../project/workerd-build.ts";
import { runEsbuild } from "../project/run-esbuild.ts";
import { typeReaderModules } from "../type-reader/build-type-reader.ts";

/** Beside the console's files, where the platform reads them by the binding that has those. */
const FOLDER = join(CONSOLE_FOLDER, "builder");
const RECORD = join(REPO_ROOT, ".threadworks/builder.json");
/** What an isolate is made of; and a digest of it, which says whose bundles are those of another build. */
const MODULES = ["builder.js", "shared.js", "ui-bundler.js", "graph-host.js", "esbuild.wasm"];
const VERSION = "version.txt";
const HERE = import.meta.dirname;

/** What the code that bundles on Node imports, and what takes its place here. */
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
  "@tailwindcss/oxide": "styles/oxide.ts",
  "enhanced-resolve": "styles/enhanced-resolve.ts",
  jiti: "styles/native-parts.ts",
  lightningcss: "styles/native-parts.ts",
};

/** What the bundler of components reads beside its own code, and where it is in the isolate. */
const UI_FILES: Readonly<Record<string, string>> = {
  "@langchain/langgraph-ui/dist/render.template.mts": "/platform/cli/render.template.mts",
  // Below the folder in which everybody looks last: a project need not have installed Tailwind for its styles.
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
 * Modules of these that old versions lack. A build on Node finds them beside the graph host, in this repository's own packages;
 * the isolate has them whole, with all that they import.
 */
const LACKED_BY_OLD = ["@langchain/langgraph-sdk/auth", "@langchain/langgraph/zod/schema"];

/**
 * Builds what an isolate needs to build projects, unless it is unchanged: the code of `cli/project` with esbuild as
 * WebAssembly, the graph host that is bundled with the graphs, and what reads their types. Returns the files that somebody
 * edits. A package brings it.
 */
export async function buildBuilder(): Promise<string[]> {
  return (await builderModules()).filter((file) => !isInstalled(file));
}

/** The same; returns all files that it was made of, with those of installed packages. */
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

/** The builder, what bundles components, and in a third module what both of them need. `texts` are modules of JSON. */
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
    // It becomes the folder of the platform's sources in the isolate's file system.
    define: {
      "import.meta.dirname": '"/platform/cli"',
      "import.meta.url": '"file:///platform/cli/"',
      // Hooks of Node's loader are for Node.
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
