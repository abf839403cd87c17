import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** Milliseconds after a start until the map is made: a start and the first run come first. */
const MAKE_AFTER_MS = 5_000;

/**
 * The source map of a module that was bundled without one. It is made by bundling the same sources again, when
 * it is first needed, or some time after the module is served. Its file is named after the code that it
 * belongs to: another version of the module never uses it, and a later start of this version does.
 */
export class LateSourceMap {
  readonly #folder: string;
  readonly #code: string;
  readonly #bundle: (outFile: string) => Promise<unknown>;
  #made: Promise<string | undefined> | undefined;

  /**
   * `folder` is where maps are kept. `bundle` writes the module and its map. `code` is the module as it is
   * served.
   */
  constructor(options: {
    folder: string;
    code: string;
    bundle: (outFile: string) => Promise<unknown>;
  }) {
    this.#folder = options.folder;
    this.#code = options.code;
    this.#bundle = options.bundle;
  }

  /** Returns the map's file. Returns undefined when the sources have changed, and the map would be another's. */
  file(): Promise<string | undefined> {
    this.#made ??= this.#make();
    return this.#made;
  }

  /** Resolves when no map is being made. */
  async settled(): Promise<void> {
    await this.#made;
  }

  async #make(): Promise<string | undefined> {
    const digest = createHash("sha256").update(this.#code).digest("hex");
    const file = join(this.#folder, `${digest}.map`);
    if (existsSync(file)) return file;
    // The map names its sources relative to its folder, so it is made in the folder in which it is kept.
    const outFile = join(this.#folder, `${randomUUID()}.js`);
    try {
      await this.#bundle(outFile);
      if ((await readFile(outFile, "utf8")) !== this.#code) return undefined;
      await rename(`${outFile}.map`, file);
      return file;
    } catch {
      // The sources have changed so that they do not build.
      return undefined;
    } finally {
      await rm(outFile, { force: true });
      await rm(`${outFile}.map`, { force: true });
    }
  }
}

/** Makes the map of the version that is served, once it has been served for a while. */
export class SourceMapTimer {
  #served: LateSourceMap | undefined;
  #timer: NodeJS.Timeout | undefined;

  serve(map: LateSourceMap): void {
    clearTimeout(this.#timer);
    this.#served = map;
    this.#timer = setTimeout(() => void map.file(), MAKE_AFTER_MS);
    this.#timer.unref();
  }

  /** Resolves when nothing writes a map any more. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#served?.settled();
  }
}
