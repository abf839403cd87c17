import { readFileSync } from "node:fs";
import { dirname, extname, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Loader, Plugin } from "esbuild";
import { withZodNamespaces } from "./zod-imports.ts";

/** The folder in which workerd shows a Worker's modules as files; `process.cwd()` returns it, too. */
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

/**
 * Matches the source files that are not below `node_modules`. The bundler asks this process about each file
 * that a filter matches, and most files of a project are those of packages.
 */
export const OWN_SOURCE = new RegExp(
  String.raw`^(?:${segmentExcept("node_modules")}[\\/])*[^\\/]*\.[cm]?[jt]sx?$`,
);

const TELLS_PLACE = /import\.meta\.|__dirname|__filename/;

/**
 * Replaces expressions for a module's own path by these variables. A module of the project declares them; for
 * installed packages they are globals, which the graph host sets (`graph-runtime/bundle-paths.ts`). The main
 * module that packages see is an artificial one, so that no package takes itself for it.
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
 * Gives the project's modules their paths within the project: `import.meta.url` and the like name
 * `/bundle/<path>`, beside the text files that are shipped there.
 */
export function modulePathsPlugin(projectDir: string): Plugin {
  return {
    name: "module-paths",
    setup(build) {
      build.onLoad({ filter: OWN_SOURCE }, ({ path }) => {
        const loader = LOADERS[extname(path)];
        if (loader === undefined) return null;
        // Synchronous: there are hundreds of small files, and each asynchronous read would cost more than the file.
        const read = readFileSync(path, "utf8");
        const source = withZodNamespaces(read);
        if (!TELLS_PLACE.test(source)) {
          return source === read ? null : { contents: source, loader, resolveDir: dirname(path) };
        }
        // The declarations go on the first line, so that all other locations stay the same.
        const own = source.startsWith("#!") ? `//${source}` : source;
        const contents = declarations(projectDir, path) + own;
        return { contents, loader, resolveDir: dirname(path) };
      });
    },
  };
}

/**
 * Returns a pattern for a part of a path that is not this word. It is made of all beginnings of the word that
 * end or go on otherwise, as the bundler's expressions have no assertions.
 */
function segmentExcept(word: string): string {
  const others = word
    .split("")
    .map((letter, index) => String.raw`${word.slice(0, index)}(?:[^${letter}\\/][^\\/]*)?`);
  return String.raw`(?:${others.join("|")}|${word}[^\\/]+)`;
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

/** Returns a file's path in the bundle. A file outside the project's folder is placed inside it. */
export function bundlePath(projectDir: string, file: string): string {
  return relative(projectDir, file)
    .split(sep)
    .filter((part) => part !== "..")
    .join("/");
}
