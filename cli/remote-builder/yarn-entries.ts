import { parseResolution, parseSyml } from "@yarnpkg/parsers";
import { z } from "zod";
import type { LockedPackage } from "../../src/lib/remote-build.ts";
import { CliError } from "../cli-error.ts";

const names = z.record(z.string(), z.string()).optional();

/**
 * An entry of either yarn: the classic one has `resolved` and `integrity`, later ones have `resolution` and
 * `conditions`.
 */
const entry = z.object({
  version: z.string(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  resolution: z.string().optional(),
  conditions: z.string().optional(),
  dependencies: names,
  optionalDependencies: names,
  dependenciesMeta: z.record(z.string(), z.object({ optional: z.string().optional() })).optional(),
});

type Entry = z.infer<typeof entry>;

/** A package by its name in the registry, with its own dependencies. */
export type YarnPackage = { locked: LockedPackage; dependencies: Dependency[] };

export type Dependency = { name: string; range: string; isOptional: boolean };

/** A dependency and the package that has it, since a `resolution` may apply to one package's dependencies only. */
type Wanted = Dependency & { of: string };

/**
 * A line of `resolutions`: the name of the dependency, the package that has it, and the replaced range;
 * undefined for any.
 */
type Override = {
  name: string;
  of: string | undefined;
  replaced: string | undefined;
  range: string;
};

const METADATA = "__metadata";

/** Matches the name at the beginning of `name@range`. */
const NAME = /^(?:@[^/@]+\/)?[^/@]+/;

/** Matches the URL of an archive in any registry; the classic yarn appends its SHA-1. */
const ARCHIVE = /(?:^|\/)[^/#]+-\d[^/#]*\.tgz(?:\?[^#]*)?(?:#([0-9a-f]{40}))?$/;

/** The entries of a `yarn.lock`, either of the classic yarn or of a later one. */
export class YarnEntries {
  /** Whether the lockfile is from a yarn after the classic one. */
  readonly isBerry: boolean;
  readonly #entries = new Map<string, Entry>();
  readonly #overrides: Override[];

  /** Throws a `CliError` when the text is not a lockfile. `resolutions` are those of the manifest beside it. */
  constructor(text: string, resolutions: Record<string, string>) {
    const parsed = z.record(z.string(), z.unknown()).safeParse(parse(text));
    if (!parsed.success) throw brokenLockfile("it has no entries");
    const { [METADATA]: metadata, ...entries } = parsed.data;
    this.isBerry = metadata !== undefined;
    for (const [key, value] of Object.entries(entries)) {
      const { data, error } = entry.safeParse(value);
      const [issue] = error?.issues ?? [];
      if (data === undefined) {
        throw brokenLockfile(`${key}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
      }
      for (const descriptor of key.split(/\s*,\s*/)) this.#entries.set(descriptor, data);
    }
    // The classic yarn lists entries under the replaced ranges, too.
    this.#overrides = this.isBerry ? Object.entries(resolutions).map(readOverride) : [];
  }

  /**
   * Returns the lockfile's entry for a dependency: a package, or the folder of a workspace; undefined when
   * there is none, or when the package is for other systems only. Throws a `CliError` for a package that is
   * not from a registry.
   */
  find(wanted: Wanted): YarnPackage | { workspace: string } | undefined {
    const { name, of } = wanted;
    const override = this.#overrides.find(
      (each) =>
        each.name === name &&
        (each.of === undefined || each.of === of) &&
        (each.replaced === undefined || withProtocol(each.replaced) === withProtocol(wanted.range)),
    );
    const ranges = override === undefined ? [wanted.range] : [override.range, wanted.range];
    for (const range of ranges) {
      const found = this.#entryOf(name, range);
      if (found === undefined) continue;
      return found.resolution === undefined
        ? classicPackage(name, range, found)
        : berryPackage(name, found.resolution, found);
    }
    return undefined;
  }

  #entryOf(name: string, range: string): Entry | undefined {
    // A package that yarn patches itself may be restricted to some systems; only the patched entry says so.
    const plain = range.replace(/^npm:/, "");
    const patched = `${name}@patch:${name}@npm%3A${plain}#optional!builtin<compat/${name}>`;
    const found =
      this.#entries.get(patched) ??
      this.#entries.get(`${name}@${range}`) ??
      this.#entries.get(`${name}@npm:${range}`);
    if (found !== undefined || !range.startsWith("catalog:")) return found;
    // The catalog's range is in another file, so the entry is only clear when there is a single one of this name.
    const all = [...this.#entries].filter(([key]) => NAME.exec(key)?.[0] === name);
    const [only, ...others] = new Set(all.map(([, each]) => each));
    return others.length === 0 ? only : undefined;
  }
}

function readOverride([pattern, range]: [string, string]): Override {
  try {
    const { from, descriptor } = parseResolution(pattern);
    const { fullName: name, description: replaced } = descriptor;
    return { name, of: from?.fullName, replaced, range };
  } catch (error) {
    throw new CliError(`package.json: resolutions: ${(error as Error).message}`);
  }
}

function withProtocol(range: string): string {
  return /^[a-z]+:/.test(range) ? range : `npm:${range}`;
}

function classicPackage(name: string, range: string, found: Entry): YarnPackage {
  const [, sha1] =
    ARCHIVE.exec(found.resolved ?? "") ?? fromElsewhere(name, found.resolved ?? range);
  const integrity =
    found.integrity ??
    (sha1 === undefined ? undefined : `sha1-${Buffer.from(sha1, "hex").toString("base64")}`);
  if (integrity === undefined) throw brokenLockfile(`${name} has no integrity`);
  // An alias has the form `npm:<name>@<range>`.
  const own = range.startsWith("npm:")
    ? (NAME.exec(range.slice("npm:".length))?.[0] ?? name)
    : name;
  return { locked: { name: own, version: found.version, integrity }, dependencies: of(found) };
}

function berryPackage(
  name: string,
  resolution: string,
  found: Entry,
): YarnPackage | { workspace: string } | undefined {
  if (found.conditions !== undefined) return undefined;
  const own = NAME.exec(resolution)?.[0] ?? name;
  const reference = resolution.slice(own.length + 1);
  if (reference.startsWith("workspace:")) {
    return { workspace: reference.slice("workspace:".length) };
  }
  // Yarn's built-in patches only serve its own way of resolving; bundled code does not need them.
  if (reference.startsWith("patch:") && !reference.includes("builtin<")) {
    throw new CliError(
      `${name} is patched in yarn.lock, and patches are not applied here: build the project on your machine, with threadworks deploy --build local`,
    );
  }
  if (!/^(?:npm|patch):/.test(reference)) fromElsewhere(name, reference);
  const locked = { name: own, version: found.version, integrity: null };
  return { locked, dependencies: of(found) };
}

function of({ dependencies, optionalDependencies, dependenciesMeta }: Entry): Dependency[] {
  return Object.entries({ ...optionalDependencies, ...dependencies }).map(([name, range]) => ({
    name,
    range,
    isOptional:
      Object.hasOwn(optionalDependencies ?? {}, name) ||
      dependenciesMeta?.[name]?.optional === "true",
  }));
}

function fromElsewhere(name: string, where: string): never {
  throw new CliError(
    `${name} comes from ${where}: only packages of the registry can be installed here`,
  );
}

function parse(text: string): unknown {
  try {
    return parseSyml(text);
  } catch (error) {
    throw brokenLockfile((error as Error).message);
  }
}

/** Returns an error about the lockfile itself. */
export function brokenLockfile(problem: string): CliError {
  return new CliError(
    `yarn.lock cannot be used: ${problem}. Run yarn install, and commit what it writes`,
  );
}
