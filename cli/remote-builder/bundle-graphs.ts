/**
 * Bundles the graphs of a project in parts that fit into an isolate's memory. In the bundle of the remote
 * builder this module replaces the one that bundles everything at once.
 */
import { basename, dirname, join, resolve } from "node:path";
import { writeFile } from "node:fs/promises";
import * as esbuild from "esbuild";
import type { CliError } from "../cli-error.ts";
import {
  bundleFailure,
  type BundleOptions,
  bundleSettings,
  errorsOf,
  type GraphBundle,
  MAX_ROUNDS,
  toldWarnings,
  UNENDING,
} from "../project/bundle-options.ts";
import { BundleRepairs, type RepairsState } from "../project/bundle-repairs.ts";
import { describeEntryError, ENTRY } from "../project/entry-module.ts";
import { type GroupPart, KeptBundles } from "./kept-bundles.ts";
import { formatsOf, GroupReferences, moduleName } from "./group-references.ts";
import { PackageGroups, PROJECT } from "./package-groups.ts";

type Part = GroupPart & {
  /** The project's source map; null for other parts. */
  map: Uint8Array | null;
};

type Built = Pick<Part, "text" | "map"> & {
  metafile: esbuild.Metafile;
  warnings: esbuild.Message[];
};

/** Thrown when a part has revealed something about others, so that all have to be bundled again. */
class BeginAnew extends Error {}

/** Matches modules with top-level await. They can only be imported, but modules of a group are required. */
const AWAITS = /\b__esm\d*\(\{async\b/;

const UNLINKED = "No matching export in ";

/** The bundles to reuse; an isolate builds one project. */
let keptBundles: KeptBundles | null = null;

/** Sets the kept bundles of packages, which are reused and to which new ones are added. */
export function keepBundles(kept: KeptBundles): void {
  keptBundles = kept;
}

export async function bundleGraphs(options: BundleOptions): Promise<GraphBundle> {
  const repairs = new BundleRepairs(options.project.projectDir);
  const groups = new PackageGroups();
  const kept = keptBundles ?? new KeptBundles(null);
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    try {
      return await new PartedBundle(options, repairs, groups, kept).write();
    } catch (error) {
      if (!(error instanceof BeginAnew)) throw error;
    }
  }
  throw bundleFailure(options.project, [UNENDING]);
}

class PartedBundle {
  readonly #options: BundleOptions;
  readonly #repairs: BundleRepairs;
  readonly #groups: PackageGroups;
  readonly #kept: KeptBundles;
  readonly #references: GroupReferences;
  readonly #parts = new Map<number, Part>();
  readonly #formats = new Map<string, string>();
  /** The groups that use something of a group. */
  readonly #users = new Map<number, Set<number>>();

  constructor(
    options: BundleOptions,
    repairs: BundleRepairs,
    groups: PackageGroups,
    kept: KeptBundles,
  ) {
    this.#options = options;
    this.#repairs = repairs;
    this.#groups = groups;
    this.#kept = kept;
    this.#references = new GroupReferences(groups);
  }

  async write(): Promise<GraphBundle> {
    const waiting = new Set([PROJECT]);
    while (waiting.size > 0) {
      // Groups that others depend on are bundled last, when it is known what all others use of them.
      const group = waiting.has(PROJECT) ? PROJECT : Math.max(...waiting);
      waiting.delete(group);
      const part = await this.#bundle(group);
      this.#parts.set(group, part);
      const { used, grown } = this.#references.note(part.text);
      for (const other of grown) waiting.add(other);
      for (const other of used) {
        this.#users.set(other, (this.#users.get(other) ?? new Set()).add(group));
      }
    }
    const outFile = resolve(this.#options.outFile);
    const inputs: esbuild.Metafile["inputs"] = {};
    const warnings = this.#repairs.warnings();
    for (const [group, { text, map, inputs: ofPart, warnings: told }] of this.#parts) {
      const file = group === PROJECT ? outFile : join(dirname(outFile), this.#moduleOf(group));
      await writeFile(file, this.#references.withDefaults(text, this.#formats));
      if (map !== null) await writeFile(`${outFile}.map`, map);
      Object.assign(inputs, ofPart);
      warnings.push(...told);
    }
    const packageModules = [...this.#parts.keys()]
      .filter((group) => group !== PROJECT)
      .map((group) => this.#moduleOf(group));
    return {
      metafile: { inputs, outputs: {} },
      warnings: [...new Set(warnings)],
      packageModules: packageModules.map((name) => basename(name)).toSorted(),
    };
  }

  #moduleOf(group: number): string {
    return moduleName(this.#groups.nameOf(group));
  }

  async #bundle(group: number): Promise<Part> {
    if (group === PROJECT) return this.#bundleAnew(group);
    const decidedBy = this.#decidedBy(group);
    const kept = this.#kept.get(decidedBy);
    if (kept !== undefined) {
      this.#repairs.add(kept.repairs);
      this.#references.addFiles(kept.references);
      this.#addFormats(kept.part.inputs);
      return { ...kept.part, map: null };
    }
    const { map, ...part } = await this.#bundleAnew(group);
    this.#kept.add(decidedBy, {
      part,
      references: this.#references.filesIn(part.text),
      repairs: this.#repairsOf(group),
    });
    return { ...part, map };
  }

  /**
   * Returns everything that a group's bundle depends on, apart from what is fixed for the whole build: the
   * files of all packages, and the bundler with its options. Which packages a group has follows from those
   * and from the merges.
   */
  #decidedBy(group: number): string {
    const groups = this.#groups;
    return JSON.stringify([
      groups.nameOf(group),
      groups.mergedFolders(),
      this.#references.asked(group, this.#formats),
      this.#repairsOf(group),
    ]);
  }

  #repairsOf(group: number): RepairsState {
    return this.#repairs.stateOf((file) => this.#groups.of(file) === group);
  }

  #addFormats(inputs: Part["inputs"]): void {
    const { projectDir } = this.#options.project;
    const formats = formatsOf(inputs, (input) => resolve(projectDir, input));
    for (const [file, format] of formats) this.#formats.set(file, format);
  }

  async #bundleAnew(group: number): Promise<Part> {
    const { project } = this.#options;
    const repairs = this.#repairs;
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      let built: Built;
      try {
        built = await this.#build(group);
      } catch (error) {
        if (this.#references.reachesProject(group)) throw this.#mergingIntoProject(group);
        this.#note(group, errorsOf(error));
        continue;
      }
      if (this.#references.reachesProject(group)) throw this.#mergingIntoProject(group);
      if (repairs.noteDisabled(built.metafile)) throw new BeginAnew();
      if (repairs.noteParents(built.text)) continue;
      if (group !== PROJECT && AWAITS.test(built.text)) throw this.#merging(group);
      const known = new Map(this.#formats);
      this.#addFormats(built.metafile.inputs);
      const areNew = this.#references
        .filesOf(group)
        .filter((file) => this.#formats.get(file) === "cjs" && known.get(file) !== "cjs");
      // Single names can only be imported from ES modules: a CommonJS module is used as a whole.
      if (areNew.length === 0) {
        const inputs = withExternalsOnly(built.metafile.inputs);
        return {
          text: built.text,
          map: built.map,
          inputs: group === PROJECT ? built.metafile.inputs : inputs,
          warnings: toldWarnings(built.warnings),
        };
      }
    }
    throw bundleFailure(project, [UNENDING]);
  }

  /** Notes the errors of a bundle. Throws when the next round cannot repair them. */
  #note(group: number, errors: esbuild.Message[]): void {
    const left = this.#repairs.note(errors);
    const unlinked = left.filter(({ text }) => text.startsWith(UNLINKED));
    // Which file imports the missing export can only be seen when both groups are bundled as one.
    if (group !== PROJECT && left.length > 0 && unlinked.length === left.length) {
      throw this.#merging(group);
    }
    if (left.length > 0) throw this.#failure(left);
    // The package is now resolved as in Node, for everything that imports it.
    if (errors.some(({ text }) => text.startsWith(UNLINKED))) throw new BeginAnew();
  }

  /** Merges a group that cannot be bundled on its own into all groups that import it. */
  #merging(group: number): BeginAnew {
    for (const user of this.#users.get(group) ?? []) this.#groups.merge(group, user);
    return new BeginAnew();
  }

  /**
   * Merges a group, and all groups that use it, into the project's: the project's own modules can only be in
   * that bundle.
   */
  #mergingIntoProject(group: number): BeginAnew {
    const reaching = new Set([group]);
    for (const one of reaching) {
      for (const user of this.#users.get(one) ?? []) reaching.add(user);
      this.#groups.merge(one, PROJECT);
    }
    return new BeginAnew();
  }

  #failure(errors: esbuild.Message[]): CliError {
    const { project } = this.#options;
    const problems = errors.map(
      (message) => describeEntryError(message, project) ?? this.#repairs.describe(message),
    );
    return bundleFailure(project, problems);
  }

  async #build(group: number): Promise<Built> {
    const settings = bundleSettings(this.#options, this.#repairs);
    const isProject = group === PROJECT;
    const { outputFiles, metafile, warnings } = await esbuild.build({
      ...settings,
      // The project's `tsconfig.json` does not apply to packages, but esbuild would apply it.
      ...(isProject ? {} : { tsconfigRaw: {} }),
      // No source map is kept for packages.
      sourcemap: isProject ? settings.sourcemap : false,
      entryPoints: [isProject ? ENTRY : "threadworks-group"],
      outfile: resolve(this.#options.outFile),
      write: false,
      plugins: [this.#references.plugin(group, this.#formats), ...settings.plugins],
    });
    const map = outputFiles.find(({ path }) => path.endsWith(".map"))?.contents ?? null;
    const text = outputFiles.find(({ path }) => !path.endsWith(".map"))?.text ?? "";
    return { text, map, metafile, warnings };
  }
}

/**
 * Keeps external imports only: they show which of Node's modules a bundle imports, and nothing else is needed
 * later.
 */
function withExternalsOnly(inputs: Part["inputs"]): Part["inputs"] {
  return Object.fromEntries(
    Object.entries(inputs).map(([path, input]) => [
      path,
      { ...input, imports: input.imports.filter(({ external }) => external === true) },
    ]),
  );
}
