import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { CliError } from "../cli-error.ts";
import { BUILT, CONSOLE_FOLDER } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { unlessUnchanged } from "../platform/build-record.ts";
import { writeWhole } from "../platform/write-whole.ts";
import { isInstalled } from "../project/workerd-build.ts";

const RECORD = join(REPO_ROOT, ".threadworks/console.json");
const SOURCES = join(REPO_ROOT, "web");
const PAGE = "index.html";

type File = { name: string; content: string | Uint8Array };

/**
 * Builds the console's app, unless its inputs are unchanged. Returns its source files. The output folder is
 * created first, because wrangler's configuration names it.
 */
export async function buildConsole(): Promise<string[]> {
  return (await builtConsole()).inputs;
}

/** Builds the console's app as above, and returns the files of installed packages that it contains. */
export async function consoleModules(): Promise<string[]> {
  return (await builtConsole()).modules;
}

async function builtConsole(): Promise<{ inputs: string[]; modules: string[] }> {
  if (BUILT !== undefined) return { inputs: [], modules: [] };
  mkdirSync(join(CONSOLE_FOLDER, "assets"), { recursive: true });
  return unlessUnchanged({
    recordFile: RECORD,
    key: [SOURCES, "with modules"],
    outputs: [join(CONSOLE_FOLDER, PAGE), join(CONSOLE_FOLDER, "assets")],
    build: async () => {
      const { files, modules } = await bundle();
      writeApp(CONSOLE_FOLDER, files);
      const inputs = filesBelow(SOURCES);
      const tools = [import.meta.filename, join(REPO_ROOT, "package-lock.json")];
      return { result: { inputs, modules }, inputs: [...inputs, ...tools] };
    },
  });
}

async function bundle(): Promise<{ files: File[]; modules: string[] }> {
  // Loaded on demand: nearly every start finds the app already built.
  const { build } = await import("vite");
  try {
    const built = await build({ configFile: join(SOURCES, "vite.config.ts") });
    if (!("output" in built)) throw new Error("vite gave no files");
    const files = built.output.map((file) => ({
      name: file.fileName,
      content: file.type === "chunk" ? file.code : file.source,
    }));
    const modules = built.output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
    return { files, modules: modules.filter((file) => isInstalled(file)) };
  } catch (error) {
    throw new CliError(`the console does not build:\n${(error as Error).message}`);
  }
}

/**
 * Writes the assets before the page and removes old ones last, so that a server that reads the folder
 * meanwhile finds everything its page refers to.
 */
function writeApp(folder: string, files: File[]): void {
  for (const { name, content } of files) {
    const path = join(folder, name);
    if (name === PAGE) continue;
    if (!existsSync(path)) writeWhole(path, content);
  }
  const page = files.find(({ name }) => name === PAGE);
  if (page === undefined) throw new CliError("the console does not build: it has no page");
  writeWhole(join(folder, PAGE), page.content);
  const current = new Set(files.map(({ name }) => basename(name)));
  for (const name of readdirSync(join(folder, "assets"))) {
    if (!current.has(name)) rmSync(join(folder, "assets", name), { force: true });
  }
}

/**
 * Returns all files and folders below a folder. A folder is included because it changes when names in it are
 * added or removed.
 */
function filesBelow(folder: string): string[] {
  const below = readdirSync(folder, { withFileTypes: true, recursive: true });
  return [folder, ...below.map((entry) => join(entry.parentPath, entry.name))];
}
