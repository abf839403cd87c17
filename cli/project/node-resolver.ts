import type * as esbuild from "esbuild";
import { runEsbuild } from "./run-esbuild.ts";

/** What a Worker has comes before what Node has, and both before what is for everybody. */
const AS_NODE = {
  platform: "node",
  conditions: ["workerd", "node", "module"],
  mainFields: ["module", "main"],
  resolveExtensions: [".js", ".mjs", ".cjs", ".json", ".ts"],
  // Node knows nothing of the names that it gives.
  tsconfigRaw: {},
} as const satisfies esbuild.BuildOptions;

export type NodeResolver = {
  /** The file that Node would take for what is imported from a folder; null where it finds none. */
  resolve: (
    path: string,
    from: { resolveDir: string; kind: esbuild.ImportKind },
  ) => Promise<string | null>;
  end: () => void;
};

/**
 * Resolves as Node does for ES modules and CommonJS, beside a build that resolves as browsers do. Conditions are those of a
 * whole build of esbuild, so this is a second one, which has not begun until `end` is called. Nothing here makes code of
 * text, as most resolvers do: a Worker refuses that.
 */
export function startNodeResolver(): NodeResolver {
  const ended = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<esbuild.PluginBuild["resolve"]>();
  const waits: esbuild.Plugin = {
    name: "waits",
    setup(build) {
      build.onStart(() => {
        ready.resolve((path, options) => build.resolve(path, options));
        return ended.promise;
      });
    },
  };
  const building = runEsbuild({
    ...AS_NODE,
    stdin: { contents: "" },
    write: false,
    logLevel: "silent",
    plugins: [waits],
  });
  // Whoever waits for a resolver that could not be started is told so.
  building.catch((error: unknown) => ready.reject(error));
  ready.promise.catch(() => {});
  return {
    async resolve(path, from) {
      const resolve = await ready.promise;
      const { errors, external, path: found } = await resolve(path, from);
      return errors.length > 0 || external ? null : found;
    },
    end: () => ended.resolve(),
  };
}
