import { join, normalize } from "node:path";
import { z } from "zod";
import { CliError } from "../cli-error.ts";
import type { InstallPlan, LockedProject } from "./lockfile.ts";
import { files } from "./node-fs.ts";
import { brokenLockfile, type Dependency, YarnEntries, type YarnPackage } from "./yarn-entries.ts";

const names = z.record(z.string(), z.string()).optional().catch(undefined);

const manifest = z.object({
  name: z.string().optional().catch(undefined),
  dependencies: names,
  optionalDependencies: names,
  resolutions: names,
});

type Manifest = z.infer<typeof manifest>;

/** Yarn's files for packages in archives. Bundlers would use them to find packages, instead of `node_modules`. */
const PLUG_AND_PLAY = [".pnp.cjs", ".pnp.js", ".pnp.data.json", ".pnp.loader.mjs"];

const NO_DIGESTS =
  "yarn.lock has digests of yarn's own archives, which cannot be checked here: each package was checked against the digest that the registry gives for it";

/**
 * Returns the packages that a yarn project has at run time. A yarn lockfile does not say in which folders
 * they are, so each has its own folder, beside links to its dependencies, as in pnpm's layout. A dependency
 * that a package does not declare, such as a peer, is found above: the project's own version, or else the
 * first one that was reached.
 */
export function planYarn(project: LockedProject): InstallPlan {
  const { root } = project;
  const own = readManifest(join(root, project.workspace));
  const { resolutions = {} } = project.workspace === "" ? own : readManifest(root);
  const entries = new YarnEntries(project.text, resolutions);
  for (const name of PLUG_AND_PLAY) files.remove(join(root, name));
  const plan: InstallPlan = {
    packages: [],
    links: [],
    warnings: entries.isBerry ? [NO_DIGESTS] : [],
  };
  const store = join(root, "node_modules/.yarn");
  const top = join(root, "node_modules");
  const placed = new Map<string, { found: YarnPackage; beside: string }>();
  const workspaces = new Set([normalize(project.workspace === "" ? "." : project.workspace)]);
  const linked = new Set<string>();
  let members: Map<string, string> | undefined;

  const link = (beside: string, name: string, target: string): void => {
    const path = join(beside, name);
    if (linked.has(path)) return;
    linked.add(path);
    plan.links.push({ path, target });
  };
  const linkAll = (beside: string, of: string, dependencies: readonly Dependency[]): void => {
    for (const dependency of dependencies) {
      const { name, range, isOptional } = dependency;
      members ??= membersOf(root);
      const found = entries.find({ ...dependency, of }) ?? workspaceOf(members, name);
      if (found === undefined) {
        if (isOptional) continue;
        throw brokenLockfile(`${of} asks for ${name}@${range}, which it does not have`);
      }
      if ("workspace" in found) {
        workspaces.add(normalize(found.workspace));
        link(beside, name, join(root, found.workspace));
        continue;
      }
      const { locked } = found;
      const id = `${locked.name}@${locked.version}`;
      const home = join(store, id.replaceAll("/", "+"), "node_modules");
      if (!placed.has(id)) placed.set(id, { found, beside: home });
      link(beside, name, join(home, locked.name));
    }
  };

  for (const workspace of workspaces) {
    const member = readManifest(join(root, workspace));
    linkAll(join(root, workspace, "node_modules"), "package.json", dependenciesOf(member));
  }
  for (const { found, beside } of placed.values()) {
    const { locked, dependencies } = found;
    plan.packages.push({ locked, folder: join(beside, locked.name) });
    linkAll(beside, locked.name, dependencies);
  }
  for (const { found, beside } of placed.values()) {
    link(top, found.locked.name, join(beside, found.locked.name));
  }
  return plan;
}

function dependenciesOf({ dependencies, optionalDependencies }: Manifest): Dependency[] {
  return Object.entries({ ...dependencies, ...optionalDependencies }).map(([name, range]) => ({
    name,
    range,
    isOptional: Object.hasOwn(optionalDependencies ?? {}, name),
  }));
}

function readManifest(folder: string): Manifest {
  const path = join(folder, "package.json");
  if (files.stat(path) === undefined) return {};
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(files.read(path)));
  } catch (error) {
    throw new CliError(`package.json is not valid JSON: ${(error as Error).message}`);
  }
  return manifest.safeParse(json).data ?? {};
}

/** Returns the folders of the repository's own packages by name, because the classic yarn does not lock them. */
function membersOf(root: string): Map<string, string> {
  const members = new Map<string, string>();
  const waiting = ["."];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const { name, kind } of files.names(join(root, folder))) {
      const path = join(folder, name);
      if (kind === "folder" && name !== "node_modules") waiting.push(path);
      if (name !== "package.json" || kind !== "file") continue;
      const member = readManifest(join(root, folder)).name;
      if (member !== undefined) members.set(member, folder);
    }
  }
  return members;
}

function workspaceOf(
  members: ReadonlyMap<string, string>,
  name: string,
): { workspace: string } | undefined {
  const workspace = members.get(name);
  return workspace === undefined ? undefined : { workspace };
}
