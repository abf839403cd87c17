import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { CONSOLE_FOLDER } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { unlessUnchanged } from "../platform/build-record.ts";
import { nodeBuiltinsPlugin } from "../project/node-modules.ts";
import { runEsbuild } from "../project/run-esbuild.ts";
import { bundledModules } from "../project/workerd-build.ts";
import { libraryFiles, typescriptPlugin } from "./typescript-modules.ts";

/** Beside the console's files, as the builder's are. */
const FOLDER = join(CONSOLE_FOLDER, "types");
const RECORD = join(REPO_ROOT, ".threadworks/type-reader.json");
const MODULE = join(FOLDER, "type-reader.js");
/** Digest of the module, by which schemas from another version of the reader are recognised. */
const VERSION = join(FOLDER, "version.txt");
const HERE = import.meta.dirname;
const TEMPLATE = "schema/types.template.mts";

/** Modules that the schema reader imports, and their replacements in the isolate. */
const REPLACED: Readonly<Record<string, string>> = {
  "@typescript/vfs": join(HERE, "compiler-files.ts"),
  "node:vm": join(HERE, "absent.ts"),
  "node:worker_threads": join(HERE, "absent.ts"),
};

/**
 * Builds the module with which an isolate reads the types of projects, unless it is unchanged: the same code
 * that reads them on Node, and the compiler. Returns all files that were bundled.
 */
export function typeReaderModules(): Promise<string[]> {
  mkdirSync(FOLDER, { recursive: true });
  return unlessUnchanged({
    recordFile: RECORD,
    key: [HERE],
    outputs: [MODULE, VERSION],
    build: async () => {
      const { inputs, text } = await bundleTypeReader(join(HERE, "type-reader.ts"));
      writeFileSync(MODULE, text);
      writeFileSync(VERSION, createHash("sha256").update(text).digest("hex"));
      const tools = [import.meta.filename, join(HERE, "typescript-modules.ts")];
      const lockfile = join(REPO_ROOT, "package-lock.json");
      return { result: inputs, inputs: [...new Set([...inputs, ...tools, lockfile])] };
    },
  });
}

/** Bundles a module that reads types as the isolate does. */
export async function bundleTypeReader(
  entryPoint: string,
): Promise<{ text: string; inputs: string[] }> {
  const { metafile, outputFiles } = await runEsbuild({
    absWorkingDir: REPO_ROOT,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2024",
    entryPoints: [entryPoint],
    external: ["cloudflare:*"],
    write: false,
    metafile: true,
    minify: true,
    legalComments: "none",
    logLevel: "silent",
    // The schema reader's console output is only for its authors. The second define keeps the compiler from
    // looking for a system.
    drop: ["console"],
    define: { "import.meta.url": '"file:///types/parser.mjs"', "process.browser": "true" },
    plugins: [
      typescriptPlugin({ replaced: REPLACED, overrides: join(HERE, "typescript.ts") }),
      {
        name: "texts",
        setup(build) {
          const texts: Record<string, () => object> = {
            "./libraries.json": libraryFiles,
            "./template.json": templateFile,
          };
          build.onResolve({ filter: /^\.\/(?:libraries|template)\.json$/ }, ({ path }) => ({
            path,
            namespace: "texts",
          }));
          build.onLoad({ filter: /.*/, namespace: "texts" }, ({ path }) => ({
            contents: JSON.stringify(texts[path]?.()),
            loader: "json",
          }));
          build.onResolve({ filter: /^node:fs$/ }, () => ({
            path: join(HERE, "../remote-builder/node-fs.ts"),
          }));
        },
      },
      nodeBuiltinsPlugin(),
    ],
  });
  const text = outputFiles[0]?.text ?? "";
  return { text, inputs: bundledModules(metafile, REPO_ROOT) };
}

function templateFile(): { text: string } {
  const reader = createRequire(import.meta.url).resolve("@langchain/langgraph-api/schema");
  return { text: readFileSync(join(dirname(reader), TEMPLATE), "utf8") };
}
