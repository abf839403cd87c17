import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, sep } from "node:path";
import type { OnResolveResult, Plugin } from "esbuild";
import { CliError } from "../cli-error.ts";

const NODE_BUILTIN = new RegExp(`^(?:node:)?(?:${builtinModules.join("|")})$`);
/** Null: the bundler resolves the module as it always does. */
type Resolution = OnResolveResult | null;

const REQUIRED_BUILTIN = "required-node-builtin";

/**
 * Leaves Node's modules to workerd, under their `node:` names.
 * A `require` of one, from CommonJS bundled into an ES module, becomes an import.
 */
export function nodeBuiltinsPlugin(): Plugin {
  return {
    name: "node-builtins",
    setup(build) {
      build.onResolve({ filter: NODE_BUILTIN }, ({ path, kind, namespace }) => {
        const name = path.startsWith("node:") ? path : `node:${path}`;
        if (kind === "require-call" && namespace !== REQUIRED_BUILTIN) {
          return { path: name, namespace: REQUIRED_BUILTIN };
        }
        return { path: name, external: true };
      });
      build.onLoad({ filter: /.*/, namespace: REQUIRED_BUILTIN }, ({ path }) => ({
        contents: `import * as builtin from "${path}"; module.exports = builtin.default ?? builtin;`,
        loader: "js",
      }));
    },
  };
}

/**
 * Makes this repository's code use the project's LangChain packages when the project has its own:
 * a message or a graph made by one copy of the library is not an instance of the other's classes.
 * What the project lacks comes from this repository (esbuild's `nodePaths`).
 */
export function oneLangChainPlugin(options: { repoRoot: string; projectDir: string }): Plugin {
  const repoPrefix = options.repoRoot + sep;
  const alreadyTried = Symbol("already tried");
  return {
    name: "one-langchain",
    setup(build) {
      build.onResolve({ filter: /^@langchain\// }, async (args): Promise<Resolution> => {
        if (args.pluginData === alreadyTried || !args.importer.startsWith(repoPrefix)) return null;
        const fromProject = await build.resolve(args.path, {
          kind: args.kind,
          importer: args.importer,
          resolveDir: options.projectDir,
          pluginData: alreadyTried,
        });
        if (fromProject.errors.length > 0) return null;
        const { path, external, namespace, sideEffects, suffix } = fromProject;
        return { path, external, namespace, sideEffects, suffix };
      });
    },
  };
}

/**
 * Refuses a project whose own LangChain is of another major version than the one that this repository's
 * code is written for: the two would fail in ways that nobody could trace to their versions.
 */
export function assertSupportedLangChain(options: { repoRoot: string; projectDir: string }): void {
  for (const name of ["@langchain/langgraph", "@langchain/core"]) {
    const installed = installedVersion(name, options.projectDir);
    const needed = installedVersion(name, options.repoRoot);
    if (installed === undefined || majorOf(installed) === majorOf(needed)) continue;
    throw new CliError(
      `${options.projectDir} has ${name} ${installed} installed; version ${majorOf(needed)} is needed`,
    );
  }
}

/** The version that a module in a folder would import. */
function installedVersion(name: string, folder: string): string | undefined {
  const manifest = join(folder, "node_modules", name, "package.json");
  if (existsSync(manifest)) {
    return (JSON.parse(readFileSync(manifest, "utf8")) as { version?: string }).version;
  }
  const parent = dirname(folder);
  return parent === folder ? undefined : installedVersion(name, parent);
}

function majorOf(version: string | undefined): string | undefined {
  return version?.split(".")[0];
}
