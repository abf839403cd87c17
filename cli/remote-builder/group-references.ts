import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Metafile, Plugin } from "esbuild";
import { ENTRY } from "../project/entry-module.ts";
import { isInstalled } from "../project/workerd-build.ts";
import { shortDigest, PROJECT, type PackageGroups } from "./package-groups.ts";

/**
 * Matches a reference, which replaces an import from another group: a CommonJS module with the exports of the
 * other group's module. This has two effects. Nothing of the other group is evaluated before the importing
 * module is. And the names that are used can be read from the bundle: a reference appears as
 * `import_zod=__toESM(require_twref3fx(),1)`, and `import_zod.z` then uses one name. A reference's name
 * depends only on the file that it refers to, so a group's bundle does not depend on what is bundled beside
 * it.
 */
const REFERENCE = /^twref([0-9a-f]+)x$/;
const REQUIRED =
  /(?:(?<![\w$.])(?<variable>[\w$]+)=__toESM\d*\()?\brequire_twref(?<id>[0-9a-f]+)x\d*\(\)/g;
/**
 * Matches the names that esbuild generates for namespaces; a namespace that a module names itself keeps that
 * name. After a single dot such a name is a property of something else, and after three it is spread.
 */
const VARIABLE =
  /(?<declared>var |,)?(?<![\w$]|(?<!\.\.)\.)(?<variable>import_[\w$]+)(?:\.(?<name>[\w$]+)|(?=(?<end>[,;=]))|)/g;
const IN_NODE_MODE = /(__toESM\d*\(require_twref([0-9a-f]+)x\d*\(\),)1\)/g;

/** This prefix in a source map's paths distinguishes generated modules from the project's. */
const REFERENCES = `${ENTRY}:reference`;
const EXPORTS = `${ENTRY}:exports`;
const GROUP = `${ENTRY}:group`;

/** Generated modules: the specifiers that they are imported by, and their namespaces. */
const MADE_MODULES: readonly [RegExp, string][] = [
  [REFERENCE, REFERENCES],
  [/^threadworks-group$/, GROUP],
  [/^threadworks-exports-[0-9a-f]+$/, EXPORTS],
];

/**
 * Matches files that by their extension are not ES modules; and keywords, one of which every ES module with
 * exports contains.
 */
const NEVER_ES_MODULE = /\.(?:cjs|json)$/;
const WORDS_OF_ES_MODULES = /\b(?:import|export)\b/;

/** A relative path out of a package and out of `node_modules` has at least two steps up. */
const LONG_WAY_UP = /^(?:\.\.\/){2}/;

const MODULE_NAME = /^\.\/package-group-[0-9a-f]+\.js$/;

const OWN_RESOLVING = Symbol("own resolving");

/** Names of exports; "all" when they are unknown. */
type Names = ReadonlySet<string> | "all";

/**
 * A module that other groups import, and the names they use; `names` is undefined until a bundle uses it.
 * `isWhole` is true when it is clear before bundling that the module is not an ES module: only from those can
 * single names be taken.
 */
type Target = { file: string; names: Names | undefined; isWhole: boolean };

/** A module of a group, and the names that other groups use of it. */
type Asked = { id: string; file: string; names: string[] | "all" };

/** The modules that groups import from each other. */
export class GroupReferences {
  readonly #groups: PackageGroups;
  readonly #targets = new Map<string, Target>();
  readonly #reaching = new Set<number>();

  constructor(groups: PackageGroups) {
    this.#groups = groups;
  }

  #idOf(file: string): string {
    const id = shortDigest(file);
    if (!this.#targets.has(id)) {
      this.#targets.set(id, { file, names: undefined, isWhole: isPlainlyWhole(file) });
    }
    return id;
  }

  /** Returns the modules of other groups that a bundle refers to. */
  filesIn(bundle: string): string[] {
    const ids = [...bundle.matchAll(REQUIRED)].map(({ groups = {} }) => groups["id"] ?? "");
    const files = [...new Set(ids)].map((id) => this.#targets.get(id)?.file);
    return files.filter((file) => file !== undefined);
  }

  /** Registers the modules that a kept bundle refers to. */
  addFiles(files: readonly string[]): void {
    for (const file of files) this.#idOf(file);
  }

  /** Notes what a bundle uses of other groups. Of those in `grown` it uses names that were not used before. */
  note(bundle: string): { used: Set<number>; grown: Set<number> } {
    const used = new Set<number>();
    const grown = new Set<number>();
    const uses = usesOfVariables(bundle);
    for (const { groups = {} } of bundle.matchAll(REQUIRED)) {
      const target = this.#targets.get(groups["id"] ?? "");
      if (target === undefined) continue;
      const group = this.#groups.of(target.file);
      used.add(group);
      const names = bothOf(target.names, uses.get(groups["variable"] ?? "") ?? "all");
      if (names === target.names) continue;
      target.names = names;
      grown.add(group);
    }
    return { used, grown };
  }

  /**
   * Corrects default imports. A default import means the whole of a CommonJS module, but the export `default`
   * of an ES module, and the format of a reference's module is only known when all groups have been bundled.
   * Positions in the text do not change.
   */
  withDefaults(bundle: string, formats: ReadonlyMap<string, string>): string {
    return bundle.replaceAll(IN_NODE_MODE, (whole, call: string, id: string) => {
      const file = this.#targets.get(id)?.file;
      return file !== undefined && formats.get(file) === "esm" ? `${call}0)` : whole;
    });
  }

  /**
   * Returns whether packages of a group import a module of the project: one of its repository, or a file
   * outside the packages' own folders.
   */
  reachesProject(group: number): boolean {
    return group !== PROJECT && this.#reaching.has(group);
  }

  /** Returns the plugin for bundling one group, which turns imports from other groups into references. */
  plugin(group: number, formats: ReadonlyMap<string, string>): Plugin {
    return {
      name: "group-references",
      setup: (build) => {
        for (const [filter, namespace] of MADE_MODULES) {
          build.onResolve({ filter }, ({ path }) => ({ path, namespace }));
        }
        build.onResolve({ filter: MODULE_NAME }, ({ path, namespace }) =>
          namespace === REFERENCES ? { path, external: true } : null,
        );
        build.onResolve({ filter: LONG_WAY_UP, namespace: "file" }, ({ path, resolveDir }) => {
          if (!isInstalled(join(resolveDir, path))) this.#reaching.add(group);
          return null;
        });
        // A relative path cannot lead into another package.
        build.onResolve({ filter: /^[^.]/ }, async ({ path, pluginData, ...from }) => {
          if (pluginData !== undefined || from.kind === "entry-point") return null;
          const found = await build.resolve(path, { ...from, pluginData: OWN_RESOLVING });
          if (found.errors.length > 0 || found.external || found.namespace !== "file") return null;
          const other = this.#groups.of(found.path);
          if (other === group) return null;
          if (other === PROJECT) this.#reaching.add(group);
          const { sideEffects } = found;
          return { path: `twref${this.#idOf(found.path)}x`, namespace: REFERENCES, sideEffects };
        });
        build.onLoad({ filter: REFERENCE, namespace: REFERENCES }, ({ path }) => {
          const id = REFERENCE.exec(path)?.[1] ?? "";
          const group = this.#groups.of(this.#targets.get(id)?.file ?? "");
          const other = moduleName(this.#groups.nameOf(group));
          const contents = `import { load } from "${other}"; module.exports = load("${id}");`;
          return { contents, loader: "js" };
        });
        build.onLoad({ filter: /.*/, namespace: GROUP }, () => ({
          contents: this.#groupSource(group, formats),
          loader: "js",
          resolveDir: "/",
        }));
        build.onLoad({ filter: /.*/, namespace: EXPORTS }, ({ path }) => ({
          contents: this.#exportsSource(path.slice(path.lastIndexOf("-") + 1)),
          loader: "js",
          resolveDir: "/",
        }));
      },
    };
  }

  /** Returns the source of a group's entry, which evaluates each module when it is first loaded. */
  #groupSource(group: number, formats: ReadonlyMap<string, string>): string {
    const cases = this.asked(group, formats).map(({ id, file, names }) => {
      const module = names === "all" ? file : `threadworks-exports-${id}`;
      return `case "${id}": return known["${id}"] ??= require(${JSON.stringify(module)});`;
    });
    return `const known = {};\nexport function load(id) { switch (id) {\n${cases.join("\n")}\n} }`;
  }

  #exportsSource(id: string): string {
    const target = this.#targets.get(id);
    if (target?.names === undefined || target.names === "all") {
      throw new Error(`No names are known of module ${id}`);
    }
    return `export { ${[...target.names].toSorted().join(", ")} } from ${JSON.stringify(target.file)};`;
  }

  /** Returns what other groups use of a group, in an order that does not depend on which was bundled first. */
  asked(group: number, formats: ReadonlyMap<string, string>): Asked[] {
    const asked: Asked[] = [];
    for (const [id, { file, names, isWhole }] of this.#targets) {
      if (names === undefined || this.#groups.of(file) !== group) continue;
      const isNamed = names !== "all" && !isWhole && formats.get(file) !== "cjs";
      asked.push({ id, file, names: isNamed ? [...names].toSorted() : "all" });
    }
    return asked.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Returns the files of a group that others import, except those whose format is known in advance. */
  filesOf(group: number): string[] {
    return [...this.#targets.values()]
      .filter(({ file, isWhole }) => !isWhole && this.#groups.of(file) === group)
      .map(({ file }) => file);
  }
}

/**
 * Returns whether a file is certainly not an ES module. For others, bundling shows their format, and the
 * group is bundled again when a file is not an ES module.
 */
function isPlainlyWhole(file: string): boolean {
  return NEVER_ES_MODULE.test(file) || !WORDS_OF_ES_MODULES.test(readFileSync(file, "utf8"));
}

/** Returns the union; the same object when nothing is added. */
function bothOf(names: Names | undefined, added: Names): Names {
  if (names === undefined || added === "all") return names === "all" ? names : added;
  if (names === "all" || [...added].every((name) => names.has(name))) return names;
  return new Set([...names, ...added]);
}

/**
 * Returns the properties that a bundle reads from variables; "all" for a variable that is used in other ways,
 * too.
 */
function usesOfVariables(bundle: string): Map<string, Set<string> | "all"> {
  const uses = new Map<string, Set<string> | "all">();
  for (const { groups = {} } of bundle.matchAll(VARIABLE)) {
    const { variable = "", name, declared, end } = groups;
    const names = uses.get(variable) ?? new Set();
    if (names !== "all" && name !== undefined) names.add(name);
    // A declaration or an assignment is not a use.
    const isUse =
      name === undefined && end !== "=" && (declared === undefined || end === undefined);
    uses.set(variable, isUse ? "all" : names);
  }
  return uses;
}

/** Returns the file name of a group's module, beside that of the project. */
export function moduleName(name: string): string {
  return `./package-group-${name}.js`;
}

/** Returns the formats of a bundle's modules, as esbuild reports them. */
export function formatsOf(
  inputs: Metafile["inputs"],
  toPath: (input: string) => string,
): Map<string, string> {
  return new Map(
    Object.entries(inputs).map(([input, { format }]) => [toPath(input), format ?? "cjs"]),
  );
}
