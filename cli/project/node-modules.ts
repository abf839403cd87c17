import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { builtinModules } from "node:module";
import type { Plugin } from "esbuild";

const NODE_BUILTIN = new RegExp(`^(?:node:)?(?:${builtinModules.join("|")})$`);

const REQUIRED_BUILTIN = "required-node-builtin";

/**
 * Leaves Node's modules to workerd, under their `node:` names. A `require` of one, from CommonJS bundled into
 * an ES module, becomes an import.
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

/** Replaces native addons, which are machine code. Code that needs one fails when it is reached, and not before. */
export function nativeAddonPlugin(): Plugin {
  return {
    name: "native-addons",
    setup(build) {
      build.onLoad({ filter: /\.node$/ }, ({ path }) => ({
        contents: throwing(`${path} is a native addon, which a Worker cannot load`),
        loader: "js",
      }));
    },
  };
}

/** Returns a CommonJS module, from which any name can be imported, that throws as soon as it is evaluated. */
export function throwing(message: string): string {
  return `throw Object.assign(new Error(${JSON.stringify(message)}), { code: "MODULE_NOT_FOUND" }); module.exports = {};`;
}

/** Returns the folder of the package that a module in `folder` would import. */
export function findPackage(name: string, folder: string): string | undefined {
  const found = join(folder, "node_modules", name);
  if (existsSync(join(found, "package.json"))) return realpathSync(found);
  const parent = dirname(folder);
  return parent === folder ? undefined : findPackage(name, parent);
}
