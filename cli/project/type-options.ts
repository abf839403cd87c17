export const CONFIG_FILE = "tsconfig.json";

/**
 * A configuration under which modules are resolved as the bundler does; `own` is the project's, if it has one. What it
 * names are no files: programs say themselves which ones they begin with.
 */
export function compilerOptionsOf(
  own: string | undefined,
  { lib, types }: { lib: string[]; types: string[] },
): object {
  return {
    ...(own === undefined ? {} : { extends: own }),
    compilerOptions: {
      target: "es2024",
      lib,
      module: "preserve",
      moduleResolution: "bundler",
      allowImportingTsExtensions: true,
      noEmit: true,
      skipLibCheck: true,
      types,
    },
    files: [],
    include: [],
  };
}
