import { dirname, join } from "node:path";
import { builtinModules } from "node:module";
import * as ts from "typescript";
import { readArchive } from "../../src/lib/package-archive.ts";
import type { LockedPackage } from "../../src/lib/remote-build.ts";
import type { DeclarationSource, TypesRequest } from "../../src/lib/remote-types.ts";
import { files } from "../remote-builder/node-fs.ts";
import { OWN_FOLDER } from "./compiler-options.ts";

/** The packages that types of states come from, whichever module imports them. */
const OF_STATES = /^(?:langchain|deepagents|zod|@langchain\/.+|@standard-schema\/.+)$/;

const CORE = "@langchain/core";
const LIBRARY_FILE = /^\/lib\.[^/]+\.d\.ts$/;
const LANGGRAPH = "@langchain/langgraph";
const BUILTINS = new Set(builtinModules);

/** The packages to resolve from; an isolate reads the types of one project. */
let installed: InstalledTypes | null = null;

/** Sets the packages among which modules are resolved. */
export function resolveAmong(packages: InstalledTypes): void {
  installed = packages;
}

/** Resolves a module as the compiler does; imports of the schema reader itself resolve from the project. */
export const resolveInstalled: typeof ts.resolveModuleName = (name, from, ...rest) => {
  if (installed === null) return ts.resolveModuleName(name, from, ...rest);
  for (const file of installed.importers(from)) {
    const found = ts.resolveModuleName(name, file, ...rest);
    if (found.resolvedModule !== undefined) return found;
  }
  return ts.resolveModuleName(name, from, ...rest);
};

/**
 * Which imports of packages are followed: all that the project imports, or only those of packages that states
 * come from.
 */
export type Follow = "imports of the project" | "packages of states";

/**
 * The packages of a project. The declarations of a package are loaded when a module imports it. Imports of
 * other packages by LangChain's are not followed: models and their clients are large, and their types do not
 * occur in states.
 */
export class InstalledTypes {
  readonly #projectDir: string;
  readonly #source: DeclarationSource;
  readonly #folders: Map<string, LockedPackage>;
  readonly #loaded = new Set<string>();
  readonly #wanted = new Set<string>();
  #follow: Follow = "imports of the project";

  constructor({ projectDir, packages, links }: TypesRequest, source: DeclarationSource) {
    this.#projectDir = projectDir;
    this.#source = source;
    this.#folders = new Map(packages.map(({ folder, locked }) => [folder, locked]));
    for (const { folder } of packages) files.makeFolder(folder);
    for (const { path, target } of links) files.link(path, target);
  }

  /** Removes everything that has been loaded, to start again with fewer packages. */
  begin(follow: Follow): void {
    this.#follow = follow;
    this.#wanted.clear();
    for (const folder of this.#loaded) {
      files.remove(folder);
      files.makeFolder(folder);
    }
    this.#loaded.clear();
  }

  /** Returns the files from which an import of a module is resolved, in this order. */
  importers(from: string): string[] {
    if (!from.startsWith(`${OWN_FOLDER}/`)) return [from];
    const own = join(this.#projectDir, "types.ts");
    const langGraph = this.#folderOf(LANGGRAPH, this.#projectDir);
    return langGraph === undefined ? [own] : [own, join(langGraph, "types.ts")];
  }

  /** Notes the package of an imported module, if it is to be followed. */
  note(name: string, from: string): void {
    const [, packageName] = /^((?:@[^/]+\/)?[^./#@][^/]*)/.exec(name) ?? [];
    if (packageName === undefined || BUILTINS.has(packageName) || name.startsWith("node:")) return;
    if (!OF_STATES.test(packageName)) {
      const importer = packageOf(from);
      const isFollowed = importer === null || !OF_STATES.test(importer);
      if (this.#follow === "packages of states" || !isFollowed) return;
    }
    for (const file of this.importers(from)) {
      const folder = this.#folderOf(packageName, dirname(this.#real(file)));
      if (folder !== undefined) this.#wanted.add(folder);
    }
  }

  /** Loads the declarations of the noted packages into their folders. Resolves with whether there were any. */
  async load(): Promise<boolean> {
    const folders = [...this.#wanted].filter((folder) => !this.#loaded.has(folder));
    this.#wanted.clear();
    await Promise.all(
      folders.map(async (folder) => {
        this.#loaded.add(folder);
        const locked = this.#folders.get(folder);
        const archive = locked === undefined ? null : await this.#source.declarations(locked);
        if (archive === null) return;
        for (const { path, ...stored } of readArchive(archive)) {
          files.put(`${folder}/${path}`, stored);
        }
      }),
    );
    return folders.length > 0;
  }

  #folderOf(name: string, from: string): string | undefined {
    for (let folder = from; ; folder = dirname(folder)) {
      const place = this.#real(join(folder, "node_modules", name));
      if (this.#folders.has(place)) return place;
      if (folder === dirname(folder)) return undefined;
    }
  }

  #real(path: string): string {
    return files.stat(path) === undefined ? path : files.realPath(path);
  }
}

/**
 * Returns whether a file may contain classes that inherit from a class in a state. The standard library and
 * LangChain's packages contain none, except for messages.
 */
export function hasClassesOfStates(file: string): boolean {
  if (LIBRARY_FILE.test(file)) return false;
  const name = packageOf(file);
  return name === null || name === CORE || !OF_STATES.test(name);
}

/** Returns the name of the installed package that a file belongs to; null for a file of the project. */
function packageOf(file: string): string | null {
  const [, name = null] = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  return name;
}
