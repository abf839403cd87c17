import type * as esbuild from "esbuild";
import { runEsbuild } from "./run-esbuild.ts";

/** The esbuild options that determine which of a package's entries is used. */
export type ResolverOptions = Pick<
  esbuild.BuildOptions,
  "platform" | "conditions" | "mainFields" | "resolveExtensions"
>;

export type PackageResolver = {
  /** Returns the file that `path` resolves to from a folder; null when there is none. */
  resolve: (
    path: string,
    from: { resolveDir: string; kind: esbuild.ImportKind },
  ) => Promise<string | null>;
  end: () => void;
};

/**
 * Starts a resolver with other conditions than those of the running build. Conditions apply to a whole build
 * of esbuild, so this is a second build, which waits at its start until `end` is called. It ignores the paths
 * of `tsconfig.json`. Unlike most resolver libraries, it does not generate code from strings, which a Worker
 * would refuse.
 */
export function startResolver(options: ResolverOptions): PackageResolver {
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
    ...options,
    tsconfigRaw: {},
    stdin: { contents: "" },
    write: false,
    logLevel: "silent",
    plugins: [waits],
  });
  // A caller that waits for a resolver that could not be started gets its error.
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
