import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type * as esbuild from "esbuild";
import { findPackage, throwing } from "./node-modules.ts";
import { type ResolverOptions, startResolver } from "./package-resolver.ts";
import { describeMessage, isInstalled } from "./workerd-build.ts";

const MISSING = "missing-module";

/** What CommonJS asks to know whether it is the program; nothing is assigned to it. */
const PARENT = /(?<![\w$.])module\d*\.parent\b(?!\s*=(?!=))/;

/** As Node takes packages, with what a Worker has in addition. */
const AS_NODE = {
  platform: "node",
  conditions: ["workerd", "node", "module"],
  mainFields: ["module", "main"],
  resolveExtensions: [".js", ".mjs", ".cjs", ".json", ".ts"],
} satisfies ResolverOptions;

/** A module that an installed package imports and that is not there. */
type MissingModule = { importer: string; specifier: string };

/** What is known of some files, and changes how they are bundled. */
export type RepairsState = {
  nodePackages: string[];
  missing: MissingModule[];
  /** Files with esbuild's words. */
  unlinked: [file: string, problem: string][];
  givesParents: boolean;
};

/**
 * What packages written for Node need of a bundle for a Worker, found by failing: a round of bundling
 * notes what it met, and the next one has it mended. Most projects need no second round.
 *
 * - A package whose entry for browsers lacks an export that is imported, or that replaces a module by
 *   nothing there, is taken as Node would take it.
 * - What an installed package imports and nobody has installed throws when it is reached, and not before:
 *   optional dependencies, mostly.
 * - A file of a package that imports what the installed version of another does not export throws when it
 *   is reached, too: Node would not link it.
 * - A CommonJS file that asks whether a module has required it is told that one has. Files without a parent take
 *   themselves for the program, and do what is for no graph.
 */
export class BundleRepairs {
  readonly #projectDir: string;
  readonly #nodePackages = new Set<string>();
  readonly #missing = new Map<string, MissingModule>();
  /** Files of packages that import what another package does not export, with esbuild's words for it. */
  readonly #unlinked = new Map<string, string>();
  #givesParents = false;

  constructor(projectDir: string) {
    this.#projectDir = projectDir;
  }

  /** Those of the errors of one round that the next one does not mend. */
  note(errors: esbuild.Message[]): esbuild.Message[] {
    // One package may be met by many errors: what counts is how it was taken in this round.
    const takenAsNode = new Set(this.#nodePackages);
    return errors.filter((message) => !this.#note(message, takenAsNode));
  }

  #note(message: esbuild.Message, takenAsNode: ReadonlySet<string>): boolean {
    const importer = message.location?.file;
    if (importer === undefined) return false;
    const file = /^No matching export in "(.*)" for import ".*"$/.exec(message.text)?.[1];
    if (file !== undefined) {
      const name = packageOf(file);
      if (name === undefined) return false;
      if (takenAsNode.has(name)) return this.#noteUnlinked(importer, message.text);
      this.#nodePackages.add(name);
      return true;
    }
    const specifier = unresolved(message);
    if (specifier === undefined || !isInstalled(importer)) return false;
    const missing = { importer: resolve(this.#projectDir, importer), specifier };
    this.#missing.set(keyOf(missing), missing);
    return true;
  }

  /** True when a package replaces a module by nothing in browsers, which the next round mends. */
  noteDisabled(metafile: esbuild.Metafile): boolean {
    const before = this.#nodePackages.size;
    for (const [importer, { imports }] of Object.entries(metafile.inputs)) {
      const name = packageOf(importer);
      const isCut = imports.some(({ path }) => path.startsWith("(disabled):"));
      if (isCut && name !== undefined) this.#nodePackages.add(name);
    }
    return this.#nodePackages.size > before;
  }

  /** True when a file of a bundle asks for its parent, which the next round answers. */
  noteParents(bundle: string): boolean {
    if (this.#givesParents || !PARENT.test(bundle)) return false;
    this.#givesParents = true;
    return true;
  }

  /** What is known for those files of packages that `isOf` names: equal where it has the same effect on them. */
  stateOf(isOf: (file: string) => boolean): RepairsState {
    return {
      nodePackages: [...this.#nodePackages].toSorted(),
      missing: [...this.#missing.values()].filter(({ importer }) => isOf(importer)),
      unlinked: [...this.#unlinked].filter(([file]) => isOf(file)),
      givesParents: this.#givesParents,
    };
  }

  /** Knows what another bundle of the same files has found out, too. */
  add({ nodePackages, missing, unlinked, givesParents }: RepairsState): void {
    for (const name of nodePackages) this.#nodePackages.add(name);
    for (const module of missing) this.#missing.set(keyOf(module), module);
    for (const [file, problem] of unlinked) this.#unlinked.set(file, problem);
    this.#givesParents ||= givesParents;
  }

  #noteUnlinked(importer: string, problem: string): boolean {
    if (!isInstalled(importer)) return false;
    this.#unlinked.set(resolve(this.#projectDir, importer), problem);
    return true;
  }

  plugin(): esbuild.Plugin {
    return {
      name: "bundle-repairs",
      setup: (build) => {
        if (this.#missing.size > 0) this.#throwWhenReached(build);
        if (this.#nodePackages.size > 0) this.#resolveAsNode(build);
        if (this.#unlinked.size > 0) this.#failAsNode(build);
        if (this.#givesParents) giveParents(build);
      },
    };
  }

  #throwWhenReached(build: esbuild.PluginBuild): void {
    const specifiers = new Set([...this.#missing.values()].map(({ specifier }) => specifier));
    const filter = new RegExp(`^(?:${[...specifiers].map(escapePattern).join("|")})$`);
    build.onResolve({ filter }, ({ path, importer }) => {
      const key = keyOf({ importer, specifier: path });
      return this.#missing.has(key) ? { path: key, namespace: MISSING } : null;
    });
    build.onLoad({ filter: /.*/, namespace: MISSING }, ({ path: key }) => {
      const { importer = "", specifier = "" } = this.#missing.get(key) ?? {};
      return { contents: throwing(`Cannot find module '${specifier}', which ${importer} imports`) };
    });
  }

  #failAsNode(build: esbuild.PluginBuild): void {
    const filter = new RegExp(`^(?:${[...this.#unlinked.keys()].map(escapePattern).join("|")})$`);
    build.onLoad({ filter }, ({ path }) => ({
      contents: throwing(`${path} cannot be loaded: ${this.#unlinked.get(path)}`),
    }));
  }

  #resolveAsNode(build: esbuild.PluginBuild): void {
    const resolver = startResolver(AS_NODE);
    build.onDispose(() => resolver.end());
    build.onResolve({ filter: /.*/, namespace: "file" }, async ({ path, ...from }) => {
      const importing = packageOf(from.importer) ?? "";
      const imported = /^[./]/.test(path) ? importing : (packageOf(`node_modules/${path}`) ?? "");
      if (!this.#nodePackages.has(importing) && !this.#nodePackages.has(imported)) return null;
      const found = await resolver.resolve(path, from);
      // What Node does not find either is for esbuild to tell.
      return found === null ? null : { path: found };
    });
  }

  /** One sentence for each package that misses something. */
  warnings(): string[] {
    const unlinked = [...this.#unlinked].map(
      ([file, problem]) => `${file} will fail where it is reached: ${problem}`,
    );
    const byPackage = Map.groupBy(
      this.#missing.values(),
      ({ importer }) => packageOf(importer) ?? importer,
    );
    const missing = [...byPackage].map(([name, modules]) => {
      const specifiers = [...new Set(modules.map(({ specifier }) => specifier))].join(", ");
      return `${name} imports ${specifiers}, which is not installed: code that reaches it will fail`;
    });
    return [...missing, ...unlinked];
  }

  /** An error that nothing here mends, with what to do about it. */
  describe(message: esbuild.Message): string {
    const specifier = unresolved(message);
    const text = describeMessage(message);
    if (specifier === undefined || /^[./]/.test(specifier)) return text;
    const name = packageOf(`node_modules/${specifier}`) ?? specifier;
    const importer = resolve(this.#projectDir, message.location?.file ?? "");
    const folder = findPackage(name, dirname(importer));
    // A package of the same repository, mostly, whose entries are made by a build of its own.
    if (folder !== undefined) return `${text}. ${folder} has no such module: run its build first`;
    return `${text}. Install it in ${this.#projectDir}: npm install ${name}`;
  }
}

/** The parent is the global of `module-paths.ts`, as esbuild's own `module` has none. */
function giveParents(build: esbuild.PluginBuild): void {
  build.onLoad({ filter: /[\\/]node_modules[\\/].*\.c?js$/ }, ({ path }) => {
    const source = readFileSync(path, "utf8");
    if (!PARENT.test(source)) return null;
    const contents = source.replaceAll(new RegExp(PARENT, "g"), "($& ?? __threadworks_main)");
    return { contents, loader: "js", resolveDir: dirname(path) };
  });
}

function unresolved({ text }: esbuild.Message): string | undefined {
  return /^Could not resolve "(.*)"$/.exec(text)?.[1];
}

function keyOf({ importer, specifier }: MissingModule): string {
  return `${specifier} from ${importer}`;
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** The name of the installed package that a file belongs to. */
function packageOf(file: string): string | undefined {
  const [, below] = /.*(?:^|[\\/])node_modules[\\/](.+)$/.exec(file) ?? [];
  return /^(?:@[^\\/]+[\\/])?[^\\/]+/.exec(below ?? "")?.[0];
}
