import { createHash } from "node:crypto";
import type * as esbuild from "esbuild";
import { packArchive, readArchive } from "../../src/lib/package-archive.ts";
import { MAX_KEPT_BUNDLES_BYTES } from "../../src/lib/remote-build.ts";
import type { RepairsState } from "../project/bundle-repairs.ts";
import { bytesOf, type StoredFile } from "./virtual-fs.ts";

/** The bundle of a group of packages, before it is known which modules of other groups are ES modules. */
export type GroupPart = {
  text: string;
  /** Keyed by path, relative to the project's folder. Of their imports only the external ones are kept. */
  inputs: esbuild.Metafile["inputs"];
  /** Warnings of this part, for the user. */
  warnings: string[];
};

/** A bundle, and what was found out while it was made. */
export type KeptBundle = {
  part: GroupPart;
  /** The modules of other groups that it refers to. */
  references: string[];
  repairs: RepairsState;
};

/**
 * The bundles of packages from an earlier build with the same packages, keyed by everything that they depend
 * on, and the bundles that this build adds.
 */
export class KeptBundles {
  readonly #earlier = new Map<string, StoredFile>();
  readonly #used = new Map<string, Uint8Array>();
  #taken = 0;
  #added = 0;

  /** Reads the kept bundles. An invalid archive is ignored, because a build can do without it. */
  constructor(archive: Uint8Array | null) {
    if (archive === null) return;
    try {
      for (const { path, ...stored } of readArchive(archive)) this.#earlier.set(path, stored);
    } catch {
      this.#earlier.clear();
    }
  }

  /** The number of bundles that were taken from an earlier build. */
  get taken(): number {
    return this.#taken;
  }

  /** Returns the bundle for this description of what it depends on, if there is one. */
  get(decidedBy: string): KeptBundle | undefined {
    const key = keyOf(decidedBy);
    const own = this.#used.get(key);
    if (own !== undefined) return parsed(own);
    const earlier = this.#earlier.get(key);
    if (earlier === undefined) return undefined;
    try {
      const bytes = bytesOf(earlier);
      const bundle = parsed(bytes);
      this.#used.set(key, bytes);
      this.#taken += 1;
      return bundle;
    } catch {
      // A bundle that cannot be read is built again and replaces this one.
      return undefined;
    }
  }

  add(decidedBy: string, bundle: KeptBundle): void {
    this.#used.set(keyOf(decidedBy), new TextEncoder().encode(JSON.stringify(bundle)));
    this.#added += 1;
  }

  /**
   * Returns the bundles that this build has used, for the next one; null when nothing was added, or the
   * archive is too large.
   */
  pack(): Uint8Array | null {
    if (this.#added === 0) return null;
    const archive = packArchive([...this.#used].map(([path, bytes]) => ({ path, bytes })));
    return archive.length > MAX_KEPT_BUNDLES_BYTES ? null : archive;
  }
}

function parsed(bytes: Uint8Array): KeptBundle {
  return JSON.parse(new TextDecoder().decode(bytes)) as KeptBundle;
}

function keyOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
