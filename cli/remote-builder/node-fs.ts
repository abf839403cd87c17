/**
 * The part of `node:fs` that the code for bundling a project uses, on the files of one build. In the bundle
 * of the remote builder this module replaces `node:fs`, `node:fs/promises` and `graceful-fs`.
 */
import { FileSystemError, type Stats, VirtualFileSystem } from "./virtual-fs.ts";

/** The files of the build; an isolate builds one project. */
export const files = new VirtualFileSystem();

type EncodingName = "utf8" | "utf-8";
type Encoding = EncodingName | { encoding?: EncodingName | null } | null | undefined;

export function readFileSync(path: string, encoding?: Encoding): string | Uint8Array {
  const bytes = files.read(path);
  const name = typeof encoding === "object" ? encoding?.encoding : encoding;
  return name === "utf8" || name === "utf-8"
    ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
    : Buffer.from(bytes);
}

export function statSync(
  path: string,
  { throwIfNoEntry = true }: { throwIfNoEntry?: boolean } = {},
): Stats | undefined {
  return found(path, files.stat(path), throwIfNoEntry);
}

export function lstatSync(
  path: string,
  { throwIfNoEntry = true }: { throwIfNoEntry?: boolean } = {},
): Stats | undefined {
  return found(path, files.stat(path, { followsLink: false }), throwIfNoEntry);
}

function found(path: string, stats: Stats | undefined, isRequired: boolean): Stats | undefined {
  if (stats === undefined && isRequired) throw new FileSystemError("ENOENT", path);
  return stats;
}

export function existsSync(path: string): boolean {
  return files.stat(path) !== undefined;
}

export function realpathSync(path: string): string {
  return files.realPath(path);
}

export function readlinkSync(path: string): string {
  return files.readLink(path);
}

export function readdirSync(path: string, options?: { withFileTypes?: boolean } | string | null) {
  const names = files.names(path);
  if (typeof options !== "object" || options?.withFileTypes !== true) {
    return names.map(({ name }) => name);
  }
  return names.map(({ name, kind }) => ({
    name,
    isFile: () => kind === "file",
    isDirectory: () => kind === "folder",
    isSymbolicLink: () => kind === "link",
  }));
}

function write(path: string, content: string | Uint8Array): void {
  files.write(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
}

let temporaryFolders = 0;

export const writeFile = async (path: string, content: string | Uint8Array): Promise<void> =>
  write(path, content);
export const appendFile = async (path: string, text: string): Promise<void> =>
  write(path, Buffer.concat([files.read(path), Buffer.from(text)]));
export const mkdir = async (path: string): Promise<void> => files.makeFolder(path);
export const rm = async (path: string): Promise<void> => files.remove(path);
export const mkdtemp = async (prefix: string): Promise<string> => {
  temporaryFolders += 1;
  files.makeFolder(`${prefix}${temporaryFolders}`);
  return `${prefix}${temporaryFolders}`;
};

/**
 * Returns a function that returns a promise, or calls back in Node's older form when its last argument is a
 * callback.
 */
function both<T>(run: (path: string, options?: never) => T) {
  return (path: string, ...rest: unknown[]): Promise<T> | undefined => {
    const callback = rest.at(-1);
    const [options] = rest as never[];
    if (typeof callback !== "function") return (async () => run(path, options))();
    let value: T;
    try {
      value = rest.length === 1 ? run(path) : run(path, options);
    } catch (error) {
      callback(error);
      return undefined;
    }
    callback(null, value);
    return undefined;
  };
}

export const readFile = both(readFileSync);
export const stat = both(statSync);
export const lstat = both(lstatSync);
export const readdir = both(readdirSync);
export const readlink = both(readlinkSync);
export const realpath = both(realpathSync);

export const promises = {
  appendFile,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  realpath,
  rm,
  stat,
  writeFile,
};

export default {
  promises,
  appendFile,
  existsSync,
  lstat,
  lstatSync,
  mkdir,
  mkdtemp,
  readFile,
  readFileSync,
  readdir,
  readdirSync,
  readlink,
  readlinkSync,
  realpath,
  realpathSync,
  rm,
  stat,
  statSync,
  writeFile,
};
