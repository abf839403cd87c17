import { dirname, join, relative } from "node:path";
import type { LockedPackage } from "../../src/lib/remote-build.ts";
import { CliError } from "../cli-error.ts";
import { files } from "./node-fs.ts";
import { planNpm } from "./npm-lockfile.ts";
import { planPnpm } from "./pnpm-lockfile.ts";
import { planYarn } from "./yarn-lockfile.ts";

/** The contents of the packages' folders, which have to exist before a project can be bundled. */
export type InstallPlan = {
  /** Each package, and the absolute path of its folder; a package may occur several times. */
  packages: { locked: LockedPackage; folder: string }[];
  links: { path: string; target: string }[];
  /** Warnings about a lockfile that can be used nevertheless. */
  warnings?: string[];
};

export type LockedProject = {
  /** The folder that has the lockfile. */
  root: string;
  /** The folder of the project's `package.json`, relative to `root`; empty for `root` itself. */
  workspace: string;
  /** The lockfile's text, and its name for errors. */
  text: string;
  name: string;
};

const PLANNERS: Readonly<Record<string, (project: LockedProject) => InstallPlan>> = {
  "package-lock.json": planNpm,
  "npm-shrinkwrap.json": planNpm,
  "pnpm-lock.yaml": planPnpm,
  "yarn.lock": planYarn,
};

/** The lockfiles of other package managers, which the platform cannot read. */
const OTHERS = ["bun.lock", "bun.lockb", "deno.lock"];

/**
 * Plans the installation of the project in `projectDir`, by the nearest lockfile between it and the
 * repository's folder. Throws a `CliError` when there is no lockfile, or it cannot be used.
 */
export function planInstall(
  projectDir: string,
  repository: string,
): Required<InstallPlan> & { by: string } {
  const others: string[] = [];
  let manifestDir: string | undefined;
  for (const folder of upFrom(projectDir, repository)) {
    if (has(folder, "package.json")) manifestDir ??= folder;
    const name = Object.keys(PLANNERS).find((candidate) => has(folder, candidate));
    const planner = name === undefined ? undefined : PLANNERS[name];
    if (name === undefined || planner === undefined) {
      others.push(...OTHERS.filter((other) => has(folder, other)));
      continue;
    }
    const text = new TextDecoder().decode(files.read(join(folder, name)));
    const workspace = relative(folder, manifestDir ?? folder);
    return { warnings: [], ...planner({ root: folder, workspace, text, name }), by: name };
  }
  if (manifestDir === undefined)
    return { packages: [], links: [], warnings: [], by: "no package.json" };
  const [other] = others;
  throw new CliError(
    other === undefined
      ? "there is no lockfile: commit the package-lock.json that npm install writes, a pnpm-lock.yaml or a yarn.lock"
      : `${other} cannot be read here: commit a package-lock.json, a pnpm-lock.yaml or a yarn.lock, or build the project on your machine: threadworks deploy --build local`,
  );
}

function* upFrom(folder: string, top: string): Generator<string> {
  for (let at = folder; ; at = dirname(at)) {
    yield at;
    if (at === top || at === "/") return;
  }
}

function has(folder: string, name: string): boolean {
  return files.stat(join(folder, name))?.isFile() === true;
}
