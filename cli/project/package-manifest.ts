import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The members of a package.json that are used here. */
export type PackageManifest = {
  name?: string;
  version?: string;
  license?: unknown;
  author?: unknown;
  dependencies?: Record<string, string>;
};

/** Reads the package.json of a folder; returns an empty object if there is none. */
export function manifestOf(folder: string): PackageManifest {
  const file = join(folder, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as PackageManifest) : {};
}
