import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { ownVersion, REPO_ROOT } from "../invocation.ts";

/**
 * Returns what the `package.json` of a project in this folder names to get this package: the tarball from which npm has
 * installed it, which may be the only place that has it, and otherwise its version.
 */
export function ownDependency(folder: string): string {
  const tarball = installedTarball();
  return tarball === null ? ownVersion() : `file:${relative(folder, tarball).replaceAll(sep, "/")}`;
}

/** Returns null if the package beside which this code lies was not installed by npm from a file, or the file is gone. */
function installedTarball(): string | null {
  const modules = dirname(REPO_ROOT);
  const source = sourceIn(join(modules, ".package-lock.json"));
  if (source?.startsWith("file:") !== true) return null;
  const tarball = resolve(dirname(modules), source.slice("file:".length));
  return existsSync(tarball) && statSync(tarball).isFile() ? tarball : null;
}

/** Returns where npm notes that it has the package from. Other package managers write no such file. */
function sourceIn(lockfile: string): string | undefined {
  if (!existsSync(lockfile)) return undefined;
  const { packages } = JSON.parse(readFileSync(lockfile, "utf8")) as {
    packages?: Record<string, { resolved?: string }>;
  };
  return packages?.["node_modules/threadworks"]?.resolved;
}
