import { join } from "node:path";
import { REPO_ROOT } from "../invocation.ts";
import { nodeBuiltinsPlugin } from "../project/node-modules.ts";
import { bundledModules, WORKERD_BUILD_OPTIONS } from "../project/workerd-build.ts";
import { runEsbuild } from "../project/run-esbuild.ts";

/** What is installed beside the package: programs, what has binaries, and what a project shares with its graph host. */
const EXTERNAL = [
  "esbuild",
  "miniflare",
  "typescript",
  "vite",
  "wrangler",
  ...["core", "langgraph", "langgraph-sdk", "langgraph-ui"].map((name) => `@langchain/${name}`),
];

/** CommonJS in an ES module requires Node's modules. */
const REQUIRE = [
  'import { createRequire as createRequireOfThisModule } from "node:module";',
  "const require = createRequireOfThisModule(import.meta.url);",
].join("\n");

/** Each is a file of its own in `cli`: a program, a process that the CLI starts, or what the package exports. */
const ENTRIES = {
  bin: "cli/package/bin.ts",
  testing: "cli/package/testing.ts",
  "schema-extractor-process": "cli/project/schema-extractor-process.ts",
};

/** Bundles the CLI, all of which lies in one folder. Returns the files that it was made of, as all bundles here do. */
export function bundleCli(outDir: string): Promise<string[]> {
  return bundlePrograms(ENTRIES, outDir);
}

/** Bundles the program of the package that `npm init threadworks` fetches. */
export function bundleCreate(outDir: string): Promise<string[]> {
  return bundlePrograms({ create: "cli/package/create.ts" }, outDir);
}

/** For the oldest Node that they run on, in a folder below that of the package, as the sources have it. */
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
    // A module of a bundle is never the one that Node was started with.
    define: { "import.meta.main": "false" },
    external: EXTERNAL,
    minifySyntax: true,
    // Their terms are in a file of their own.
    legalComments: "none",
    metafile: true,
    logLevel: "silent",
  });
  return bundledModules(metafile, REPO_ROOT);
}

/**
 * Bundles the graph host, which is bundled again with each project: what of LangChain it imports is left to be the
 * project's own.
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
