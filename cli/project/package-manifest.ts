import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What is read here of a package.json. */
export type PackageManifest = {
  name?: string;
  version?: string;
  license?: unknown;
  author?: unknown;
  dependencies?: Record<string, string>;
};

/** The package.json of a folder; nothing where there is none. */
export function manifestOf(folder: string): PackageManifest {
  const file = join(folder, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as PackageManifest) : {};
}
