import { readFileSync } from "node:fs";
import { dirname, extname, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Loader, Plugin } from "esbuild";
import { isInstalled } from "./workerd-build.ts";
import { withZodNamespaces } from "./zod-imports.ts";

/** Where workerd shows the modules of a Worker as files; `process.cwd()` is there, too. */
const BUNDLE_DIR = "/bundle";

const LOADERS: Readonly<Record<string, Loader>> = {
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".tsx": "tsx",
  ".js": "js",
  ".mjs": "js",
  ".cjs": "js",
  ".jsx": "jsx",
};

const TELLS_PLACE = /import\.meta\.|__dirname|__filename/;

/**
 * What a module says of its own place is what these variables hold. A module of the project declares them;
 * for installed packages they are globals, which the graph host sets (`graph-runtime/bundle-paths.ts`). The module that
 * Node was started with is one that no package is, for all of them.
 */
export const PATH_DEFINES: Readonly<Record<string, string>> = {
  "import.meta.url": "__threadworks_url",
  "import.meta.filename": "__threadworks_filename",
  "import.meta.dirname": "__threadworks_dirname",
  __filename: "__threadworks_filename",
  __dirname: "__threadworks_dirname",
  "require.main": "__threadworks_main",
};

/**
 * Gives the project's modules their place in the project: `import.meta.url` and its like name
 * `/bundle/<path>`, beside the text files that are shipped there.
 */
export function modulePathsPlugin(projectDir: string): Plugin {
  return {
    name: "module-paths",
    setup(build) {
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, ({ path }) => {
        const loader = LOADERS[extname(path)];
        if (loader === undefined || isInstalled(path)) return null;
        // Hundreds of small files: each asynchronous read would cost more than the file.
        const read = readFileSync(path, "utf8");
        const source = withZodNamespaces(read);
        if (!TELLS_PLACE.test(source)) {
          return source === read ? null : { contents: source, loader, resolveDir: dirname(path) };
        }
        // On the first line: the places of everything else stay as they are.
        const own = source.startsWith("#!") ? `//${source}` : source;
        const contents = declarations(projectDir, path) + own;
        return { contents, loader, resolveDir: dirname(path) };
      });
    },
  };
}

function declarations(projectDir: string, file: string): string {
  const path = `${BUNDLE_DIR}/${bundlePath(projectDir, file)}`;
  const values = {
    __threadworks_url: pathToFileURL(path).href,
    __threadworks_filename: path,
    __threadworks_dirname: dirname(path),
  };
  const pairs = Object.entries(values).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `var ${pairs.join()};`;
}

/** A file's path in the bundle. What lies outside of the project's folder is put into it. */
export function bundlePath(projectDir: string, file: string): string {
  return relative(projectDir, file)
    .split(sep)
    .filter((part) => part !== "..")
    .join("/");
}
