import { join } from "node:path";
import type { Plugin } from "esbuild";
import { REPO_ROOT } from "../invocation.ts";
import { nodeBuiltinsPlugin } from "../project/node-modules.ts";
import { bundledModules, WORKERD_BUILD_OPTIONS } from "../project/workerd-build.ts";
import { runEsbuild } from "../project/run-esbuild.ts";

/**
 * Packages that are installed beside this one instead of being bundled: programs, packages with binaries, and
 * those that a project shares with its graph host.
 */
const EXTERNAL = [
  "esbuild",
  "miniflare",
  "typescript",
  "vite",
  "wrangler",
  ...["core", "langgraph", "langgraph-sdk", "langgraph-ui"].map((name) => `@langchain/${name}`),
];

/** Defines `require`, because bundled CommonJS modules require Node's modules. */
const REQUIRE = [
  'import { createRequire as createRequireOfThisModule } from "node:module";',
  "const require = createRequireOfThisModule(import.meta.url);",
].join("\n");

/** Each entry becomes a file in `cli`: a program, a process that the CLI starts, or an export of the package. */
const ENTRIES = {
  bin: "cli/package/bin.ts",
  testing: "cli/package/testing.ts",
  "bundle-thread": "cli/package/bundle-thread.ts",
  "schema-extractor-process": "cli/project/schema-extractor-process.ts",
};

/** Bundles the CLI into one folder. Like all functions here, it returns the files that were bundled. */
export function bundleCli(outDir: string): Promise<string[]> {
  return bundlePrograms(ENTRIES, outDir);
}

/** Bundles the program of the package that `npm init threadworks` fetches. */
export function bundleCreate(outDir: string): Promise<string[]> {
  return bundlePrograms({ create: "cli/package/create.ts" }, outDir);
}

/** Bundles programs for the oldest supported Node, into a folder below that of the package, as in the sources. */
async function bundlePrograms(
  entryPoints: Record<string, string>,
  outDir: string,
): Promise<string[]> {
  const { metafile } = await runEsbuild({
    absWorkingDir: REPO_ROOT,
    entryPoints,
    outdir: join(outDir, "cli"),
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    banner: { js: REQUIRE },
    // A bundled module is never the one that Node was started with.
    define: { "import.meta.main": "false" },
    external: EXTERNAL,
    plugins: [englishPlugin],
    minifySyntax: true,
    // The licences are in a separate file.
    legalComments: "none",
    metafile: true,
    logLevel: "silent",
  });
  return bundledModules(metafile, REPO_ROOT);
}

/**
 * Bundles the graph host, which is bundled again with each project: its imports of LangChain stay external,
 * so that they resolve to the project's own packages.
 */
export async function bundleGraphHost(outDir: string): Promise<string[]> {
  const { metafile } = await runEsbuild({
    ...WORKERD_BUILD_OPTIONS,
    absWorkingDir: REPO_ROOT,
    entryPoints: ["src/graph-runtime/graph-host.ts"],
    outfile: join(outDir, "src/graph-runtime/graph-host.js"),
    external: [...WORKERD_BUILD_OPTIONS.external, "@langchain/*"],
    plugins: [nodeBuiltinsPlugin()],
    sourcemap: false,
  });
  return bundledModules(metafile, REPO_ROOT);
}

/** Leaves out zod's messages in other languages than English: a third of its code, which each start would load. */
const englishPlugin: Plugin = {
  name: "english",
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};
