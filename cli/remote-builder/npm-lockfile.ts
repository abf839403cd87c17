import { dirname, join } from "node:path";
import { z } from "zod";
import { CliError } from "../cli-error.ts";
import type { InstallPlan, LockedProject } from "./lockfile.ts";
import { files } from "./node-fs.ts";
import { isOfSystem, lockedSystems } from "./package-systems.ts";

const names = z.record(z.string(), z.string()).optional();

const entry = z.object({
  name: z.string().optional(),
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  optional: z.boolean().optional(),
  devOptional: z.boolean().optional(),
  ...lockedSystems,
  dependencies: names,
  optionalDependencies: names,
  peerDependencies: names,
  peerDependenciesMeta: z
    .record(z.string(), z.object({ optional: z.boolean().optional() }))
    .optional(),
});

type Entry = z.infer<typeof entry>;

const lockfile = z.object({
  lockfileVersion: z.int(),
  packages: z.record(z.string(), entry).optional(),
});

const manifest = z.object({ dependencies: names, optionalDependencies: names });

/** The first lockfile version that says which folder each package is in. */
const OLDEST_VERSION = 2;

/** Returns the packages that an npm project has at run time: those that its dependencies lead to. */
export function planNpm(project: LockedProject): InstallPlan {
  const packages = readPackages(project);
  const own = packages[project.workspace];
  if (own === undefined) {
    throw broken(project, `it has no workspace "${project.workspace}"`);
  }
  checkManifest(project, own);
  const plan: InstallPlan = { packages: [], links: [] };
  const reached = new Set([project.workspace]);
  for (const folder of reached) {
    const found = packages[folder];
    if (found === undefined) continue;
    if ((found.optional === true || found.devOptional === true) && isOfSystem(found)) continue;
    if (found.link === true) {
      plan.links.push({
        path: join(project.root, folder),
        target: join(project.root, found.resolved ?? ""),
      });
      reached.add(found.resolved ?? "");
      continue;
    }
    if (folder.includes("node_modules/")) plan.packages.push(planned(project, folder, found));
    for (const name of dependenciesOf(found)) {
      const place = placeOf(name, folder, packages);
      // An optional package may be missing; the bundler reports required ones that are.
      if (place !== undefined) reached.add(place);
    }
  }
  return plan;
}

function readPackages(project: LockedProject): Record<string, Entry> {
  let json: unknown;
  try {
    json = JSON.parse(project.text);
  } catch (error) {
    throw broken(project, (error as Error).message);
  }
  const parsed = lockfile.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw broken(project, `${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
  }
  const { lockfileVersion, packages } = parsed.data;
  if (lockfileVersion < OLDEST_VERSION || packages === undefined) {
    throw broken(project, `it has version ${lockfileVersion}, which npm before 7 wrote`);
  }
  return packages;
}

/** Throws when the lockfile was not updated after a change of `package.json`, as `npm ci` does. */
function checkManifest(project: LockedProject, own: Entry): void {
  const path = join(project.root, project.workspace, "package.json");
  if (files.stat(path) === undefined) return;
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(files.read(path)));
  } catch (error) {
    throw new CliError(`package.json is not valid JSON: ${(error as Error).message}`);
  }
  const { data } = manifest.safeParse(json);
  for (const kind of ["dependencies", "optionalDependencies"] as const) {
    for (const [name, range] of Object.entries(data?.[kind] ?? {})) {
      const locked = own[kind]?.[name] ?? own.optionalDependencies?.[name];
      if (locked !== range) {
        throw broken(
          project,
          `package.json asks for ${name}@${range}, and it has ${locked ?? "none"}`,
        );
      }
    }
  }
}

function planned(project: LockedProject, folder: string, found: Entry) {
  const name = found.name ?? folder.slice(folder.lastIndexOf("node_modules/") + 13);
  const { version, integrity, resolved = "" } = found;
  if (/^(?:git|file:|github:)/.test(resolved)) {
    throw new CliError(
      `${name} comes from ${resolved}: only packages of the registry can be installed here`,
    );
  }
  if (version === undefined || integrity === undefined) {
    throw broken(project, `${name} has no ${version === undefined ? "version" : "integrity"}`);
  }
  return { locked: { name, version, integrity }, folder: join(project.root, folder) };
}

/**
 * Returns the names of a package's dependencies. Optional peers are left out: packages that need one depend
 * on it themselves.
 */
function dependenciesOf(found: Entry): string[] {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = found;
  const peers = Object.keys(peerDependencies ?? {}).filter(
    (name) => peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/** Returns the path where Node finds a package from a folder: in the nearest `node_modules` on the way up. */
function placeOf(
  name: string,
  folder: string,
  packages: Record<string, Entry>,
): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const base = at === "." ? "" : at;
    const place = base === "" ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (Object.hasOwn(packages, place)) return place;
    if (base === "") return undefined;
  }
}

function broken({ name }: LockedProject, problem: string): CliError {
  return new CliError(
    `${name} cannot be used: ${problem}. Run npm install, and commit what it writes`,
  );
}
