export const CONFIG_FILE = "tsconfig.json";

/**
 * Returns a TypeScript configuration that resolves modules as the bundler does; `own` is the project's
 * configuration, if it has one. The result includes no files, because programs name their own root files.
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
