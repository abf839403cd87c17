/**
 * esbuild as WebAssembly, on the files of one build. In the bundle of the remote builder this module replaces
 * `esbuild`. It is the same program as on Node, so it resolves, reads `package.json` and `tsconfig.json`, and
 * links in the same way; only the file system behind Go's calls differs.
 */
import type { BuildOptions, BuildResult } from "esbuild";
import * as wasm from "esbuild-wasm/esm/browser.js";
import { files } from "./node-fs.ts";
import { FileSystemError } from "./virtual-fs.ts";

type Callback = (error: unknown, value?: unknown) => void;
type Read = (
  fd: number,
  buffer: Uint8Array,
  offset: number,
  length: number,
  position: number | null,
  callback: Callback,
) => void;

type Write = (fd: number, bytes: Uint8Array) => number;

type Opened = { path: string; bytes: Uint8Array | null; at: number };

const STDERR = 2;
const FIRST_FD = 10;

/**
 * Detects that the program has ended, which the library does not report: pending calls would wait until the
 * build's time is over. Go prints the reason before it exits.
 */
class Ending {
  readonly #ended = Promise.withResolvers<never>();
  #line = "";

  constructor() {
    // Most programs run until their isolate ends, so this rejection need not be handled.
    this.#ended.promise.catch(() => {});
  }

  /** Receives a part of the program's output on stderr, which may end within a line. */
  note(text: string): void {
    this.#line += text;
    const [line] = /^(?:fatal error|panic): .*(?=\n)/m.exec(this.#line) ?? [];
    if (line !== undefined) this.#ended.reject(new Error(`esbuild has ended: ${line}`));
    this.#line = this.#line.slice(this.#line.lastIndexOf("\n") + 1);
  }

  /** Settles as `work` does, or rejects when the program ends first. */
  unlessEnded<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#ended.promise]);
  }
}

const ending = new Ending();

/**
 * The file system that Go calls. The library replaces `read` and `writeSync` by its own functions, for its
 * two streams.
 */
class GoFileSystem {
  readonly constants = {
    O_WRONLY: 1,
    O_RDWR: 2,
    O_CREAT: 64,
    O_TRUNC: 512,
    O_APPEND: 1024,
    O_EXCL: 128,
    O_DIRECTORY: 65536,
  };
  readonly #opened = new Map<number, Opened>();
  #nextFd = FIRST_FD;
  #readStream: Read | null = null;
  #writeStream: Write | null = null;

  get read(): Read {
    return (fd, buffer, offset, length, position, callback) => {
      if (fd < FIRST_FD) this.#readStream?.(fd, buffer, offset, length, position, callback);
      else
        answer(callback, () => this.#read(fd, buffer.subarray(offset, offset + length), position));
    };
  }

  set read(readStream: Read) {
    this.#readStream = readStream;
  }

  get writeSync(): Write {
    return (fd, bytes) => {
      if (fd === STDERR) ending.note(new TextDecoder().decode(bytes));
      return this.#writeStream?.(fd, bytes) ?? bytes.length;
    };
  }

  set writeSync(writeStream: Write) {
    this.#writeStream = writeStream;
  }

  write(
    fd: number,
    bytes: Uint8Array,
    _offset: number,
    _length: number,
    _position: unknown,
    callback: Callback,
  ): void {
    answer(callback, () => this.writeSync(fd, bytes));
  }

  open(path: string, _flags: number, _mode: number, callback: Callback): void {
    answer(callback, () => {
      const stats = files.stat(path);
      if (stats === undefined) throw new FileSystemError("ENOENT", path);
      const fd = this.#nextFd;
      this.#nextFd += 1;
      this.#opened.set(fd, { path, bytes: null, at: 0 });
      return fd;
    });
  }

  close(fd: number, callback: Callback): void {
    this.#opened.delete(fd);
    callback(null);
  }

  fstat(fd: number, callback: Callback): void {
    answer(callback, () => files.stat(this.#require(fd).path));
  }

  stat(path: string, callback: Callback): void {
    answer(callback, () => files.stat(path) ?? missing(path));
  }

  lstat(path: string, callback: Callback): void {
    answer(callback, () => files.stat(path, { followsLink: false }) ?? missing(path));
  }

  readdir(path: string, callback: Callback): void {
    answer(callback, () => files.names(path).map(({ name }) => name));
  }

  readlink(path: string, callback: Callback): void {
    answer(callback, () => files.readLink(path));
  }

  #read(fd: number, into: Uint8Array, position: number | null): number {
    const opened = this.#require(fd);
    opened.bytes ??= files.read(opened.path);
    const from = position ?? opened.at;
    const part = opened.bytes.subarray(from, from + into.length);
    into.set(part);
    if (position === null) opened.at += part.length;
    return part.length;
  }

  #require(fd: number): Opened {
    const opened = this.#opened.get(fd);
    if (opened === undefined) throw new FileSystemError("EBADF", String(fd));
    return opened;
  }
}

function missing(path: string): never {
  throw new FileSystemError("ENOENT", path);
}

function answer(callback: Callback, value: () => unknown): void {
  let result: unknown;
  try {
    result = value();
  } catch (error) {
    callback(error);
    return;
  }
  callback(null, result);
}

/** Starts esbuild. Has to be called once, before anything is bundled. */
export async function startEsbuild(wasmModule: WebAssembly.Module): Promise<void> {
  Reflect.set(globalThis, "fs", new GoFileSystem());
  await wasm.initialize({ wasmModule, worker: false });
}

/** Exported because the bundler of components imports it; it is never called here. */
export { context } from "esbuild-wasm/esm/browser.js";

/** Bundles as esbuild does, and writes the result unless `write` is false. */
export async function build(options: BuildOptions): Promise<BuildResult> {
  const result: BuildResult = await ending.unlessEnded(
    wasm.build({ absWorkingDir: process.cwd(), ...options, write: false }),
  );
  const written = options.write === false ? [] : (result.outputFiles ?? []);
  for (const { path, contents } of written) files.write(path, contents);
  return result;
}

/** The name under which `run-esbuild.ts`, which this module replaces too, has it. */
export { build as runEsbuild };
