import type * as esbuild from "esbuild";
import { runEsbuild } from "./run-esbuild.ts";

/** Which of a package's entries is taken: those that esbuild has for it. */
export type ResolverOptions = Pick<
  esbuild.BuildOptions,
  "platform" | "conditions" | "mainFields" | "resolveExtensions"
>;

export type PackageResolver = {
  /** The file that is imported from a folder; null where there is none. */
  resolve: (
    path: string,
    from: { resolveDir: string; kind: esbuild.ImportKind },
  ) => Promise<string | null>;
  end: () => void;
};

/**
 * Resolves by other conditions than a build does, beside it. They are those of a whole build of esbuild, so this is a
 * second one, which waits in its beginning until `end` is called. Names of `tsconfig.json` mean nothing to it.
 * No code is made of text here, as most resolvers do: a Worker refuses that.
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
