import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findPackage } from "../project/node-modules.ts";

/** Matches the folder of the installed package that a file belongs to. */
const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/** The group of all files that are not in installed packages: the project's own modules, and the platform's. */
export const PROJECT = 0;

/** Length of the digests that names consist of; it is more than enough for the modules of one project. */
const NAME_DIGITS = 16;

type Visit = { at: number; lowest: number };

/**
 * Decides which packages are bundled together: each forms its own group, except that packages that depend on
 * each other in a cycle share one. A group is identified by a number that is higher than those of the groups
 * it depends on; `PROJECT` is lower than all of them.
 */
export class PackageGroups {
  readonly #groups = new Map<string, number>();
  readonly #visits = new Map<string, Visit>();
  readonly #open: string[] = [];
  /** Maps a merged group to the one it became part of. Which groups have to be merged is found by failing. */
  readonly #merged = new Map<number, number>();
  readonly #names = new Map<number, string>();
  #count = PROJECT;

  /** Returns the group of a file, whose path must be absolute and without links. */
  of(file: string): number {
    const [folder] = PACKAGE_FOLDER.exec(file) ?? [];
    if (folder === undefined) return PROJECT;
    if (!this.#groups.has(folder)) this.#visit(folder);
    return this.#find(this.#groups.get(folder) ?? PROJECT);
  }

  /**
   * Returns a group's name. It is derived from the packages in the group, so unlike the number it is the same
   * in each build of them.
   */
  nameOf(group: number): string {
    const known = this.#names.get(group);
    if (known !== undefined) return known;
    const name = shortDigest(this.#foldersOf(group).join("\n"));
    this.#names.set(group, name);
    return name;
  }

  /** Returns the folders of each group that others were merged into, as one string per group. */
  mergedFolders(): string[] {
    const groups = new Set([...this.#merged.keys()].map((group) => this.#find(group)));
    return [...groups].map((group) => this.#foldersOf(group).join("\n")).toSorted();
  }

  #foldersOf(group: number): string[] {
    const all = [...this.#groups].filter(([, own]) => this.#find(own) === group);
    return all.map(([folder]) => folder).toSorted();
  }

  /**
   * Merges two groups, which are then bundled as one. A group that is merged with the project's becomes part
   * of it.
   */
  merge(one: number, other: number): void {
    const [a, b] = [this.#find(one), this.#find(other)];
    if (a === b) return;
    this.#names.clear();
    if (a === PROJECT || b === PROJECT) this.#merged.set(Math.max(a, b), PROJECT);
    else this.#merged.set(Math.min(a, b), Math.max(a, b));
  }

  #find(group: number): number {
    const into = this.#merged.get(group);
    return into === undefined ? group : this.#find(into);
  }

  /**
   * Assigns groups by Tarjan's algorithm: strongly connected packages form a group, numbered after its
   * dependencies.
   */
  #visit(folder: string): Visit {
    const visit: Visit = { at: this.#visits.size, lowest: this.#visits.size };
    this.#visits.set(folder, visit);
    this.#open.push(folder);
    for (const dependency of dependenciesOf(folder)) {
      if (this.#groups.has(dependency)) continue;
      const known = this.#visits.get(dependency);
      const lowest = known === undefined ? this.#visit(dependency).lowest : known.at;
      visit.lowest = Math.min(visit.lowest, lowest);
    }
    if (visit.lowest === visit.at) {
      this.#count += 1;
      const members = this.#open.splice(this.#open.indexOf(folder));
      for (const member of members) this.#groups.set(member, this.#count);
    }
    return visit;
  }
}

/** Returns a short name for a longer text, such as a path. */
export function shortDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, NAME_DIGITS);
}

/** Returns the folders of the installed packages that a package's manifest lists as dependencies of any kind. */
function dependenciesOf(folder: string): string[] {
  const file = join(folder, "package.json");
  // A package may contain a `node_modules` folder of its own, with parts that it was built with and that have
  // no manifest.
  if (!existsSync(file)) return [];
  const manifest = JSON.parse(readFileSync(file, "utf8")) as Record<
    string,
    Record<string, string> | undefined
  >;
  const kinds = ["dependencies", "peerDependencies", "optionalDependencies"];
  const names = kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {}));
  const found = [...new Set(names)].map((name) => findPackage(name, folder));
  return found.filter(
    (dependency) => dependency !== undefined && dependency !== folder,
  ) as string[];
}
