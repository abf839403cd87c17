import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { CliError } from "../cli-error.ts";
import { unlessUnchanged } from "../platform/build-record.ts";

/** Where wrangler.toml and the local server look for it. */
const OUTPUT = ".threadworks/console";
const RECORD = ".threadworks/console.json";
const PAGE = "index.html";

type File = { name: string; content: string | Uint8Array };

export function consoleFolder(repoRoot: string): string {
  return join(repoRoot, OUTPUT);
}

/**
 * Builds the console's app, unless what it is made of is unchanged. Returns the files that somebody edits. wrangler's
 * configuration names the folder, so it is there from the beginning on.
 */
export async function buildConsole(repoRoot: string): Promise<string[]> {
  const folder = consoleFolder(repoRoot);
  mkdirSync(join(folder, "assets"), { recursive: true });
  return unlessUnchanged({
    recordFile: join(repoRoot, RECORD),
    key: repoRoot,
    outputs: [join(folder, PAGE), join(folder, "assets")],
    build: async () => {
      writeApp(folder, await bundle(repoRoot));
      const inputs = filesBelow(join(repoRoot, "web"));
      const tools = [import.meta.filename, join(repoRoot, "package-lock.json")];
      return { result: inputs, inputs: [...inputs, ...tools] };
    },
  });
}

async function bundle(repoRoot: string): Promise<File[]> {
  // Loaded only now: nearly every start finds the app built.
  const { build } = await import("vite");
  try {
    const built = await build({ configFile: join(repoRoot, "web/vite.config.ts") });
    if (!("output" in built)) throw new Error("vite gave no files");
    return built.output.map((file) => ({
      name: file.fileName,
      content: file.type === "chunk" ? file.code : file.source,
    }));
  } catch (error) {
    throw new CliError(`the console does not build:\n${(error as Error).message}`);
  }
}

/** In this order a server that reads the folder meanwhile finds all that its page asks for. */
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

function writeWhole(path: string, content: string | Uint8Array): void {
  const part = `${path}.${process.pid}`;
  writeFileSync(part, content);
  renameSync(part, path);
}

/** All files and folders below one: a folder differs when other names are in it. */
function filesBelow(folder: string): string[] {
  const below = readdirSync(folder, { withFileTypes: true, recursive: true });
  return [folder, ...below.map((entry) => join(entry.parentPath, entry.name))];
}
