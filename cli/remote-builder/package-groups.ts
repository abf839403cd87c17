import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findPackage } from "../project/node-modules.ts";

/** The folder of the installed package that a file belongs to. */
const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/** The group of all that is not installed: the project's own modules, and the platform's. */
export const PROJECT = 0;

/** Of the digests that names are made of: more than enough for the modules of one project. */
const NAME_DIGITS = 16;

type Visit = { at: number; lowest: number };

/**
 * Which packages are bundled together: each by itself, but for those that depend on each other in a circle. A group is a
 * number, higher than those of the groups that it depends on, and `PROJECT` is none of them.
 */
export class PackageGroups {
  readonly #groups = new Map<string, number>();
  readonly #visits = new Map<string, Visit>();
  readonly #open: string[] = [];
  /** Groups that are one with another: what has to be bundled together is found by failing. */
  readonly #merged = new Map<number, number>();
  readonly #names = new Map<number, string>();
  #count = PROJECT;

  /** The group of a file; absolute, without links. */
  of(file: string): number {
    const [folder] = PACKAGE_FOLDER.exec(file) ?? [];
    if (folder === undefined) return PROJECT;
    if (!this.#groups.has(folder)) this.#visit(folder);
    return this.#find(this.#groups.get(folder) ?? PROJECT);
  }

  /** A group's name says which packages it has, and so it is the same in each build of them; its number is not. */
  nameOf(group: number): string {
    const known = this.#names.get(group);
    if (known !== undefined) return known;
    const name = shortDigest(this.#foldersOf(group).join("\n"));
    this.#names.set(group, name);
    return name;
  }

  /** What has been merged, by the folders of what was: a text for each group that is not by itself any more. */
  mergedFolders(): string[] {
    const groups = new Set([...this.#merged.keys()].map((group) => this.#find(group)));
    return [...groups].map((group) => this.#foldersOf(group).join("\n")).toSorted();
  }

  #foldersOf(group: number): string[] {
    const all = [...this.#groups].filter(([, own]) => this.#find(own) === group);
    return all.map(([folder]) => folder).toSorted();
  }

  /** Has two groups bundled as one from now on. What is one with the project's is part of it. */
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

  /** Tarjan's algorithm: strongly connected packages are a group, whose number comes after its dependencies'. */
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

/** A name for something long, such as a path. */
export function shortDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, NAME_DIGITS);
}

/** The folders of the installed packages that a package says it needs, or can make use of. */
function dependenciesOf(folder: string): string[] {
  const file = join(folder, "package.json");
  // A folder of this name in a package, with what that was built with.
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
