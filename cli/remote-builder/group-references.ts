import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Metafile, Plugin } from "esbuild";
import { ENTRY } from "../project/entry-module.ts";
import { isInstalled } from "../project/workerd-build.ts";
import { shortDigest, PROJECT, type PackageGroups } from "./package-groups.ts";

/**
 * What a group imports of another one is a reference: a CommonJS module whose exports are those of the other group's
 * module. So nothing of another group is evaluated before the module that imports it is, and what is used of a
 * reference can be read from the bundle: `import_zod=__toESM(require_twref3fx(),1)` is how it comes, and then
 * `import_zod.z` is a use of one name. What a reference is called is told by the file that it is to, and by nothing
 * else: so the bundle of a group does not depend on what is bundled beside it.
 */
const REFERENCE = /^twref([0-9a-f]+)x$/;
const REQUIRED =
  /(?:(?<![\w$.])(?<variable>[\w$]+)=__toESM\d*\()?\brequire_twref(?<id>[0-9a-f]+)x\d*\(\)/g;
/**
 * The names that esbuild makes up; a namespace that a module names itself is called as there. Behind one dot it would be
 * a property of something else, and behind three it is spread.
 */
const VARIABLE =
  /(?<declared>var |,)?(?<![\w$]|(?<!\.\.)\.)(?<variable>import_[\w$]+)(?:\.(?<name>[\w$]+)|(?=(?<end>[,;=]))|)/g;
const IN_NODE_MODE = /(__toESM\d*\(require_twref([0-9a-f]+)x\d*\(\),)1\)/g;

/** Names in positions of the source map tell it from the project's modules. */
const REFERENCES = `${ENTRY}:reference`;
const EXPORTS = `${ENTRY}:exports`;
const GROUP = `${ENTRY}:group`;

/** The modules that are made and not read, by what they are imported as. */
const MADE_MODULES: readonly [RegExp, string][] = [
  [REFERENCE, REFERENCES],
  [/^threadworks-group$/, GROUP],
  [/^threadworks-exports-[0-9a-f]+$/, EXPORTS],
];

/** Files that are no ES modules by their names; and words of which every ES module that exports something has one. */
const NEVER_ES_MODULE = /\.(?:cjs|json)$/;
const WORDS_OF_ES_MODULES = /\b(?:import|export)\b/;

/** No shorter way leads out of a package, and then out of `node_modules`. */
const LONG_WAY_UP = /^(?:\.\.\/){2}/;

const MODULE_NAME = /^\.\/package-group-[0-9a-f]+\.js$/;

const OWN_RESOLVING = Symbol("own resolving");

/** Names of exports; "all" where they cannot be told. */
type Names = ReadonlySet<string> | "all";

/**
 * A module that other groups import, and what of it; undefined until one has it in its bundle. It `isWhole` when it is
 * clear before it is bundled that it is no ES module, of which alone names can be taken.
 */
type Target = { file: string; names: Names | undefined; isWhole: boolean };

/** A module of a group, and what others ask of it. */
type Asked = { id: string; file: string; names: string[] | "all" };

/** The modules that groups import of each other. */
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

  /** The modules of other groups that a bundle refers to. */
  filesIn(bundle: string): string[] {
    const ids = [...bundle.matchAll(REQUIRED)].map(({ groups = {} }) => groups["id"] ?? "");
    const files = [...new Set(ids)].map((id) => this.#targets.get(id)?.file);
    return files.filter((file) => file !== undefined);
  }

  /** Knows the modules that a bundle refers to which was made before. */
  addFiles(files: readonly string[]): void {
    for (const file of files) this.#idOf(file);
  }

  /** Notes what a bundle uses of other groups. Of those that have `grown` it uses something that nobody did before. */
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
   * A default import means the whole of a CommonJS module and the export `default` of an ES module: which of them
   * a reference is, is known when all groups have been bundled. No position in the text changes.
   */
  withDefaults(bundle: string, formats: ReadonlyMap<string, string>): string {
    return bundle.replaceAll(IN_NODE_MODE, (whole, call: string, id: string) => {
      const file = this.#targets.get(id)?.file;
      return file !== undefined && formats.get(file) === "esm" ? `${call}0)` : whole;
    });
  }

  /** Whether packages of a group import a module of the project: one of its repository, or a file above their own folders. */
  reachesProject(group: number): boolean {
    return group !== PROJECT && this.#reaching.has(group);
  }

  /** Bundling one group: what is of another one becomes a reference to it. */
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
        // A relative path leads into no other package.
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

  /** Each module is evaluated when it is first loaded. */
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

  /** What others ask of a group, in an order that does not depend on who asked first. */
  asked(group: number, formats: ReadonlyMap<string, string>): Asked[] {
    const asked: Asked[] = [];
    for (const [id, { file, names, isWhole }] of this.#targets) {
      if (names === undefined || this.#groups.of(file) !== group) continue;
      const isNamed = names !== "all" && !isWhole && formats.get(file) !== "cjs";
      asked.push({ id, file, names: isNamed ? [...names].toSorted() : "all" });
    }
    return asked.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** The files of a group that others import, but for those whose kind is plain. */
  filesOf(group: number): string[] {
    return [...this.#targets.values()]
      .filter(({ file, isWhole }) => !isWhole && this.#groups.of(file) === group)
      .map(({ file }) => file);
  }
}

/** Else its bundle tells what it is, and is made anew when it turns out to be none. */
function isPlainlyWhole(file: string): boolean {
  return NEVER_ES_MODULE.test(file) || !WORDS_OF_ES_MODULES.test(readFileSync(file, "utf8"));
}

/** The same names where there are no others among the new ones. */
function bothOf(names: Names | undefined, added: Names): Names {
  if (names === undefined || added === "all") return names === "all" ? names : added;
  if (names === "all" || [...added].every((name) => names.has(name))) return names;
  return new Set([...names, ...added]);
}

/** The properties that a bundle reads of variables; "all" where a variable is used in other ways, too. */
function usesOfVariables(bundle: string): Map<string, Set<string> | "all"> {
  const uses = new Map<string, Set<string> | "all">();
  for (const { groups = {} } of bundle.matchAll(VARIABLE)) {
    const { variable = "", name, declared, end } = groups;
    const names = uses.get(variable) ?? new Set();
    if (names !== "all" && name !== undefined) names.add(name);
    // It is declared, or gets its value.
    const isUse =
      name === undefined && end !== "=" && (declared === undefined || end === undefined);
    uses.set(variable, isUse ? "all" : names);
  }
  return uses;
}

/** The module that a group of this name becomes, beside that of the project. */
export function moduleName(name: string): string {
  return `./package-group-${name}.js`;
}

/** The formats of the modules of a bundle, as esbuild tells them. */
export function formatsOf(
  inputs: Metafile["inputs"],
  toPath: (input: string) => string,
): Map<string, string> {
  return new Map(
    Object.entries(inputs).map(([input, { format }]) => [toPath(input), format ?? "cjs"]),
  );
}
