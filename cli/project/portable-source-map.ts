import { isAbsolute, join, relative, resolve, sep } from "node:path";

const REPO_ROOT = resolve(import.meta.dirname, "../..");
const INSTALLED = `${sep}node_modules${sep}`;

/**
 * The source map with names of sources that say nothing of the machine it was made on: relative to the
 * project, to `node_modules`, or to this repository as `threadworks`.
 */
export function portableSourceMap(
  text: string,
  { buildDir, projectDir }: { buildDir: string; projectDir: string },
): string {
  const map = JSON.parse(text) as { sources: string[] };
  const sources = map.sources.map((source) =>
    // Modules that no file holds are named after the plugin that makes them.
    /^[\w-]{2,}:/.test(source) ? source : portableName(resolve(buildDir, source), projectDir),
  );
  return JSON.stringify({ ...map, sources });
}

function portableName(file: string, projectDir: string): string {
  const installedAt = file.indexOf(INSTALLED);
  if (installedAt >= 0) return withSlashes(file.slice(installedAt + 1));
  const inProject = relative(projectDir, file);
  if (isBelow(inProject)) return withSlashes(inProject);
  const inRepo = relative(REPO_ROOT, file);
  return withSlashes(isBelow(inRepo) ? join("threadworks", inRepo) : inProject);
}

function isBelow(path: string): boolean {
  return path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

function withSlashes(path: string): string {
  return path.replaceAll(sep, "/");
}
