import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type * as esbuild from "esbuild";
import { findPackage, throwing } from "./node-modules.ts";
import { addCommand } from "./package-manager.ts";
import { type ResolverOptions, startResolver } from "./package-resolver.ts";
import { describeMessage, isInstalled } from "./workerd-build.ts";

const MISSING = "missing-module";

/** Matches the check by which CommonJS modules find out whether they are the main program; not an assignment. */
const PARENT = /(?<![\w$.])module\d*\.parent\b(?!\s*=(?!=))/;

/** Resolves packages as Node does, plus the conditions that a Worker has in addition. */
const AS_NODE = {
  platform: "node",
  conditions: ["workerd", "node", "module"],
  mainFields: ["module", "main"],
  resolveExtensions: [".js", ".mjs", ".cjs", ".json", ".ts"],
} satisfies ResolverOptions;

/** A module that an installed package imports and that is not installed. */
type MissingModule = { importer: string; specifier: string };

/** The repairs of some files, which change how they are bundled. */
export type RepairsState = {
  nodePackages: string[];
  missing: MissingModule[];
  /** Pairs of a file and esbuild's error message. */
  unlinked: [file: string, problem: string][];
  givesParents: boolean;
};

/**
 * Makes packages that were written for Node work in a bundle for a Worker. What they need is found by
 * failing: each round of bundling notes the errors, and the next one contains the repairs. Most projects need
 * no second round.
 *
 * - A package whose entry for browsers lacks an imported export, or replaces a module by nothing, is
 *   resolved as in Node.
 * - A module that an installed package imports and that is not installed throws when it is reached, and
 *   not before. These are mostly optional dependencies.
 * - A file of a package that imports what the installed version of another package does not export also
 *   throws when it is reached: Node would not link it.
 * - A CommonJS file that asks for its parent module is given one. Files without a parent take themselves
 *   for the main program, and run code that is not meant for graphs.
 */
export class BundleRepairs {
  readonly #projectDir: string;
  readonly #nodePackages = new Set<string>();
  readonly #missing = new Map<string, MissingModule>();
  /** Files of packages that import what another package does not export, with esbuild's error message. */
  readonly #unlinked = new Map<string, string>();
  #givesParents = false;

  constructor(projectDir: string) {
    this.#projectDir = projectDir;
  }

  /** Notes the errors of one round, and returns those that the next round does not repair. */
  note(errors: esbuild.Message[]): esbuild.Message[] {
    // One package may cause many errors: what counts is how it was resolved in this round.
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

  /** Returns true when a package replaces a module by nothing for browsers, which the next round repairs. */
  noteDisabled(metafile: esbuild.Metafile): boolean {
    const before = this.#nodePackages.size;
    for (const [importer, { imports }] of Object.entries(metafile.inputs)) {
      const name = packageOf(importer);
      const isCut = imports.some(({ path }) => path.startsWith("(disabled):"));
      if (isCut && name !== undefined) this.#nodePackages.add(name);
    }
    return this.#nodePackages.size > before;
  }

  /** Returns true when a file of a bundle asks for its parent, which the next round provides. */
  noteParents(bundle: string): boolean {
    if (this.#givesParents || !PARENT.test(bundle)) return false;
    this.#givesParents = true;
    return true;
  }

  /**
   * Returns the repairs that can affect the package files selected by `isOf`. Equal states have the same
   * effect on them.
   */
  stateOf(isOf: (file: string) => boolean): RepairsState {
    return {
      nodePackages: [...this.#nodePackages].toSorted(),
      missing: [...this.#missing.values()].filter(({ importer }) => isOf(importer)),
      unlinked: [...this.#unlinked].filter(([file]) => isOf(file)),
      givesParents: this.#givesParents,
    };
  }

  /** Adds the repairs that another bundle of the same files has needed. */
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
      // When Node does not find it either, esbuild reports the error.
      return found === null ? null : { path: found };
    });
  }

  /** Returns one sentence for each package that lacks a module, and for each file that cannot be linked. */
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

  /** Returns the message of an error that cannot be repaired, with advice on what to do about it. */
  describe(message: esbuild.Message): string {
    const specifier = unresolved(message);
    const text = describeMessage(message);
    if (specifier === undefined || /^[./]/.test(specifier)) return text;
    const name = packageOf(`node_modules/${specifier}`) ?? specifier;
    const importer = resolve(this.#projectDir, message.location?.file ?? "");
    const folder = findPackage(name, dirname(importer));
    // This is usually a package of the same repository that has to be built first.
    if (folder !== undefined) return `${text}. ${folder} has no such module: run its build first`;
    return `${text}. Install it in ${this.#projectDir}: ${addCommand(this.#projectDir, [name])}`;
  }
}

/** Provides the parent by way of the global of `module-paths.ts`, because esbuild's own `module` has none. */
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

/** Returns the name of the installed package that a file belongs to. */
function packageOf(file: string): string | undefined {
  const [, below] = /.*(?:^|[\\/])node_modules[\\/](.+)$/.exec(file) ?? [];
  return /^(?:@[^\\/]+[\\/])?[^\\/]+/.exec(below ?? "")?.[0];
}
