import { existsSync } from "node:fs";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { CONFIG_FILE, compilerOptionsOf } from "./type-options.ts";

/** A project in the form in which TypeScript sees it. */
export type TypeMirror = {
  /** Returns the path of a project's file in the mirror. */
  pathOf: (file: string) => string;
  remove: () => Promise<void>;
};

/**
 * Mirrors a project by symbolic links inside this repository. TypeScript then finds packages that the project
 * has not installed in this repository's `node_modules`, and uses compiler options that resolve modules as
 * the bundler does. `sources` are the files that the mirror has to contain.
 */
export async function mirrorProject(
  { projectDir, sources }: { projectDir: string; sources: string[] },
  mirrorDir: string,
): Promise<TypeMirror> {
  const root = commonDirectory([projectDir, ...sources.map(dirname)]);
  const remove = (): Promise<void> => rm(mirrorDir, { recursive: true, force: true });
  try {
    await mirrorFolder(root, projectDir, mirrorDir);
  } catch (error) {
    await remove();
    throw error;
  }
  return { pathOf: (file) => join(mirrorDir, relative(root, file)), remove };
}

async function mirrorFolder(from: string, projectDir: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const isProject = from === projectDir;
  const next = isProject ? undefined : relative(from, projectDir).split(sep)[0];
  const hidden = new Set([CONFIG_FILE, ".threadworks", ".git"]);
  for (const entry of await readdir(from)) {
    if (entry === next) await mirrorFolder(join(from, entry), projectDir, join(to, entry));
    else if (!isProject || !hidden.has(entry)) await symlink(join(from, entry), join(to, entry));
  }
  if (!isProject) return;
  const ownConfig = join(projectDir, CONFIG_FILE);
  const tsconfig = compilerOptionsOf(existsSync(ownConfig) ? ownConfig : undefined, {
    lib: ["es2024", "dom"],
    types: ["node"],
  });
  await writeFile(join(to, CONFIG_FILE), JSON.stringify(tsconfig));
}

function commonDirectory(directories: string[]): string {
  const [first = sep, ...others] = directories;
  let common = first;
  while (!others.every((path) => path === common || path.startsWith(common + sep))) {
    const parent = dirname(common);
    if (parent === common) break;
    common = parent;
  }
  return common;
}
