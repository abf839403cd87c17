import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The command with which each package manager adds packages, by the lockfile that it writes. */
const ADDING: Readonly<Record<string, string>> = {
  "package-lock.json": "npm install",
  "npm-shrinkwrap.json": "npm install",
  "pnpm-lock.yaml": "pnpm add",
  "yarn.lock": "yarn add",
  "bun.lock": "bun add",
  "bun.lockb": "bun add",
};

/**
 * Returns the command that adds packages to a project, for advice: that of the package manager whose lockfile is in the
 * project's folder or in the nearest one above it, and npm's when there is none.
 */
export function addCommand(
  projectDir: string,
  packages: readonly string[],
  { dev = false }: { dev?: boolean } = {},
): string {
  return [addingIn(projectDir), ...(dev ? ["--save-dev"] : []), ...packages].join(" ");
}

function addingIn(folder: string): string {
  const found = Object.entries(ADDING).find(([lockfile]) => existsSync(join(folder, lockfile)));
  if (found !== undefined) return found[1];
  const parent = dirname(folder);
  return parent === folder ? "npm install" : addingIn(parent);
}
