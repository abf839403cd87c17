import { zstdDecompressSync } from "node:zlib";

/** A file in memory: its bytes, or a part of an archive that is decompressed on each read. */
export type StoredFile = { size: number; bytes: Uint8Array; isCompressed: boolean };

export function bytesOf({ bytes, isCompressed }: StoredFile): Uint8Array {
  return isCompressed ? zstdDecompressSync(bytes) : bytes;
}

type Folder = { kind: "folder"; ino: number; entries: Map<string, Entry> };
type Link = { kind: "link"; ino: number; target: string };
type File = { kind: "file"; ino: number; stored: StoredFile };
type Entry = Folder | Link | File;

/** Maximum links that are followed for one path, as in Linux; more than that are a cycle. */
const MAX_LINKS = 40;

const TYPE_BITS = { folder: 0o040755, link: 0o120777, file: 0o100644 } as const;

/** An error of the file system, with Node's code for it. */
export class FileSystemError extends Error {
  readonly code: string;

  constructor(code: string, path: string) {
    super(`${code}: ${path}`);
    this.code = code;
  }
}

/**
 * The files of one build, in memory. Most are files of installed packages, few of which are read, so they
 * stay compressed. Paths are absolute.
 */
export class VirtualFileSystem {
  #entries = 0;
  readonly #root: Folder = { kind: "folder", ino: 0, entries: new Map() };

  write(path: string, bytes: Uint8Array): void {
    this.put(path, { size: bytes.length, bytes, isCompressed: false });
  }

  put(path: string, stored: StoredFile): void {
    const [folder, name] = this.#place(path);
    folder.entries.set(name, { kind: "file", ino: this.#nextIno(), stored });
  }

  link(path: string, target: string): void {
    const [folder, name] = this.#place(path);
    folder.entries.set(name, { kind: "link", ino: this.#nextIno(), target });
  }

  makeFolder(path: string): void {
    this.#folder(segmentsOf(path));
  }

  remove(path: string): void {
    const segments = segmentsOf(path);
    const name = segments.pop() ?? "";
    const folder = this.#find(segments);
    if (folder?.kind === "folder") folder.entries.delete(name);
  }

  read(path: string): Uint8Array {
    const entry = this.#require(path);
    if (entry.kind !== "file") throw new FileSystemError("EISDIR", path);
    return bytesOf(entry.stored);
  }

  names(path: string): { name: string; kind: Entry["kind"] }[] {
    const entry = this.#require(path);
    if (entry.kind !== "folder") throw new FileSystemError("ENOTDIR", path);
    return [...entry.entries].map(([name, { kind }]) => ({ name, kind }));
  }

  stat(path: string, { followsLink = true } = {}): Stats | undefined {
    const entry = this.#find(segmentsOf(path), followsLink);
    return entry === undefined ? undefined : new Stats(entry);
  }

  readLink(path: string): string {
    const entry = this.#find(segmentsOf(path), false);
    if (entry === undefined) throw new FileSystemError("ENOENT", path);
    if (entry.kind !== "link") throw new FileSystemError("EINVAL", path);
    return entry.target;
  }

  /** Returns the path with all links resolved. */
  realPath(path: string): string {
    const real: string[] = [];
    if (this.#find(segmentsOf(path), true, real) === undefined) {
      throw new FileSystemError("ENOENT", path);
    }
    return `/${real.join("/")}`;
  }

  #require(path: string): Entry {
    const entry = this.#find(segmentsOf(path));
    if (entry === undefined) throw new FileSystemError("ENOENT", path);
    return entry;
  }

  /** Looks up an entry. `real` receives the segments of the path with all links resolved. */
  #find(segments: readonly string[], followsLast = true, real: string[] = []): Entry | undefined {
    const left = segments.toReversed();
    const folders: Folder[] = [this.#root];
    let links = 0;
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      if (name === "..") {
        if (folders.length > 1) folders.pop();
        real.pop();
        continue;
      }
      const entry = folders.at(-1)?.entries.get(name);
      if (entry?.kind === "link" && (left.length > 0 || followsLast)) {
        links += 1;
        if (links > MAX_LINKS) return undefined;
        if (entry.target.startsWith("/")) {
          folders.length = 1;
          real.length = 0;
        }
        left.push(...segmentsOf(entry.target).toReversed());
        continue;
      }
      if (entry === undefined) return undefined;
      real.push(name);
      if (entry.kind === "folder") folders.push(entry);
      else return left.length === 0 ? entry : undefined;
    }
    return folders.at(-1);
  }

  #place(path: string): [Folder, string] {
    const segments = segmentsOf(path);
    const name = segments.pop();
    if (name === undefined) throw new FileSystemError("EISDIR", path);
    return [this.#folder(segments), name];
  }

  #folder(segments: readonly string[]): Folder {
    let folder = this.#root;
    for (const [index, name] of segments.entries()) {
      let entry = folder.entries.get(name);
      if (entry?.kind === "link") entry = this.#find(segments.slice(0, index + 1));
      if (entry === undefined) {
        entry = { kind: "folder", ino: this.#nextIno(), entries: new Map() };
        folder.entries.set(name, entry);
      }
      if (entry.kind !== "folder") throw new FileSystemError("ENOTDIR", `/${segments.join("/")}`);
      folder = entry;
    }
    return folder;
  }

  #nextIno(): number {
    this.#entries += 1;
    return this.#entries;
  }
}

/** The result of `stat`. All files have the same time, so that a build depends on their contents only. */
export class Stats {
  readonly #kind: Entry["kind"];
  readonly ino: number;
  readonly mode: number;
  readonly size: number;
  readonly dev = 1;
  readonly nlink = 1;
  readonly uid = 0;
  readonly gid = 0;
  readonly rdev = 0;
  readonly blksize = 4096;
  readonly blocks = 0;
  readonly atimeMs = 0;
  readonly mtimeMs = 0;
  readonly ctimeMs = 0;

  constructor(entry: Entry) {
    this.#kind = entry.kind;
    this.ino = entry.ino;
    this.mode = TYPE_BITS[entry.kind];
    this.size = entry.kind === "file" ? entry.stored.size : 0;
  }

  isFile = (): boolean => this.#kind === "file";
  isDirectory = (): boolean => this.#kind === "folder";
  isSymbolicLink = (): boolean => this.#kind === "link";
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}
