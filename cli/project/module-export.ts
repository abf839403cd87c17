import { statSync } from "node:fs";
import { extname, resolve } from "node:path";

const EXTENSIONS = new Set([".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"]);
const PYTHON_EXTENSIONS = new Set([".py", ".pyx", ".pyd", ".pyi"]);

export type ModuleExport = {
  /** Absolute path of the module. */
  file: string;
  exportName: string;
};

/**
 * Returns the module and export that `./file.ts:export` names, or a message that says what is wrong with it.
 * Without `:export` it is the default export.
 */
export function resolveExport(
  { what, spec, example }: { what: string; spec: string; example: string },
  projectDir: string,
): ModuleExport | string {
  const [path, exportName] = splitSpec(spec);
  const extension = extname(path).toLowerCase();
  if (PYTHON_EXTENSIONS.has(extension)) {
    return `${what}: ${path} is Python; only JavaScript and TypeScript run here`;
  }
  if (path === "" || exportName === "" || !EXTENSIONS.has(extension)) {
    return `${what}: "${spec}" must name a JavaScript or TypeScript file and one of its exports, like "${example}"`;
  }
  const file = resolve(projectDir, path);
  return isFile(file) ? { file, exportName } : `${what}: ${file} does not exist`;
}

/** Splits a spec at its last colon, unless a slash follows: the colon of a Windows drive is not a separator. */
function splitSpec(spec: string): [path: string, exportName: string] {
  const colon = spec.lastIndexOf(":");
  if (colon === -1 || /[\\/]/.test(spec.slice(colon))) return [spec, "default"];
  return [spec.slice(0, colon), spec.slice(colon + 1)];
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
