import { builtinModules } from "node:module";
import { sep } from "node:path";
import type { OnResolveResult, Plugin } from "esbuild";

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
