import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

type Locked = {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};

/** Returns the bytes of a package and all of its dependencies, as npm has installed them below a folder. */
export function installedBytes(folder: string, name: string): number {
  const text = readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8");
  const { packages } = JSON.parse(text) as { packages: Record<string, Locked> };
  const reached = new Set([`node_modules/${name}`]);
  for (const path of reached) {
    const { dependencies, optionalDependencies } = packages[path] ?? {};
    for (const wanted of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = placesAbove(path)
        .map((place) => `${place}node_modules/${wanted}`)
        .find((place) => place in packages);
      if (found !== undefined) reached.add(found);
    }
  }
  const counted = new Set<number>();
  return [...reached].reduce((total, path) => total + bytesBelow(join(folder, path), counted), 0);
}

/** Returns the prefixes under which a package's imports are looked up, nearest first: `a/`, then those above. */
function placesAbove(path: string): string[] {
  const parts = path.split("node_modules/").slice(1);
  return parts
    .map((_, index) =>
      parts
        .slice(0, parts.length - index)
        .map((part) => `node_modules/${part.replace(/\/$/, "")}/`)
        .join(""),
    )
    .concat("");
}

/** Excludes nested packages, which are counted where they are reached, and counts a file with several names once. */
function bytesBelow(path: string, counted: Set<number>): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (counted.has(stats.ino)) return 0;
  counted.add(stats.ino);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path)
    .filter((name) => name !== "node_modules")
    .reduce((total, name) => total + bytesBelow(join(path, name), counted), 0);
}
