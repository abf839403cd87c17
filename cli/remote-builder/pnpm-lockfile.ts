import { dirname, join, posix } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { CliError } from "../cli-error.ts";
import type { InstallPlan, LockedProject } from "./lockfile.ts";
import { isOfSystem, lockedSystems } from "./package-systems.ts";

const versions = z.record(z.string(), z.string()).optional();

const wanted = z.record(z.string(), z.object({ version: z.string() })).optional();

const lockfile = z.object({
  lockfileVersion: z.coerce.number(),
  importers: z.record(z.string(), z.object({ dependencies: wanted, optionalDependencies: wanted })),
  packages: z
    .record(
      z.string(),
      z.object({
        resolution: z.object({ integrity: z.string().optional() }),
        ...lockedSystems,
      }),
    )
    .optional(),
  snapshots: z
    .record(z.string(), z.object({ dependencies: versions, optionalDependencies: versions }))
    .optional(),
});

/** The first lockfile version that describes packages separately from their uses. */
const OLDEST_VERSION = 9;

/** Matches a version that names another package, as an alias does: `name@1.0.0`. */
const NAMED = /^(@?[^@()]+)@\d/;

/**
 * Returns the packages that a pnpm project has at run time, in pnpm's layout: each in its own folder below
 * `node_modules/.pnpm`, beside links to its dependencies.
 */
export function planPnpm(project: LockedProject): InstallPlan {
  const { importers, packages = {}, snapshots = {} } = readLockfile(project);
  const plan: InstallPlan = { packages: [], links: [] };
  const store = join(project.root, "node_modules/.pnpm");
  const homes = new Map<string, string>();
  const workspaces = new Set([project.workspace === "" ? "." : project.workspace]);

  const homeOf = (key: string, name: string): string => {
    const known = homes.get(key);
    if (known !== undefined) return known;
    const home = join(store, key.replaceAll(/[/():]/g, "+"), "node_modules", name);
    homes.set(key, home);
    return home;
  };
  const linkAll = (
    beside: string,
    importer: string,
    dependencies: Record<string, string>,
    isOptional: (name: string) => boolean,
  ): void => {
    for (const [name, version] of Object.entries(dependencies)) {
      const path = join(beside, name);
      if (version.startsWith("link:")) {
        const workspace = posix.normalize(posix.join(importer, version.slice("link:".length)));
        workspaces.add(workspace);
        plan.links.push({ path, target: join(project.root, workspace) });
        continue;
      }
      const own = NAMED.exec(version)?.[1] ?? name;
      const key = own === name && !version.startsWith(`${name}@`) ? `${name}@${version}` : version;
      if (isOptional(name) && isOfSystem(packages[idOf(key)] ?? {})) continue;
      plan.links.push({ path, target: homeOf(key, own) });
    }
  };

  for (const workspace of workspaces) {
    const importer = importers[workspace];
    if (importer === undefined) throw broken(`it has no importer "${workspace}"`);
    const beside = join(project.root, workspace, "node_modules");
    linkAll(
      beside,
      workspace,
      versionsOf({ ...importer.optionalDependencies, ...importer.dependencies }),
      (name) => !Object.hasOwn(importer.dependencies ?? {}, name),
    );
  }
  for (const [key, home] of homes) {
    const locked = lockedOf(key, packages);
    plan.packages.push({ locked, folder: home });
    const { dependencies, optionalDependencies } = snapshots[key] ?? {};
    const beside = locked.name.startsWith("@") ? dirname(dirname(home)) : dirname(home);
    linkAll(
      beside,
      ".",
      { ...optionalDependencies, ...dependencies },
      (name) => !Object.hasOwn(dependencies ?? {}, name),
    );
  }
  return plan;
}

function versionsOf(dependencies: Record<string, { version: string }>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(dependencies).map(([name, { version }]) => [name, version]),
  );
}

/** Returns the name and version of a package, without the peers that it is installed with. */
function idOf(key: string): string {
  return key.replace(/\(.*$/, "");
}

function lockedOf(key: string, packages: z.infer<typeof lockfile>["packages"] & object) {
  const id = idOf(key);
  const at = id.lastIndexOf("@");
  const [name, version] = [id.slice(0, at), id.slice(at + 1)];
  const integrity = packages[id]?.resolution.integrity;
  if (integrity === undefined) {
    throw new CliError(
      `${name} has no integrity in pnpm-lock.yaml: only packages of the registry can be installed here`,
    );
  }
  return { name, version, integrity };
}

function readLockfile({ text }: LockedProject): z.infer<typeof lockfile> {
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw broken((error as Error).message);
  }
  const parsed = lockfile.safeParse(content);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw broken(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
  }
  if (parsed.data.lockfileVersion < OLDEST_VERSION) {
    throw broken(`it has version ${parsed.data.lockfileVersion}, which pnpm before 9 wrote`);
  }
  return parsed.data;
}

function broken(problem: string): CliError {
  return new CliError(
    `pnpm-lock.yaml cannot be used: ${problem}. Run pnpm install, and commit what it writes`,
  );
}
