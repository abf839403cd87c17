import { createHash } from "node:crypto";
import type * as esbuild from "esbuild";
import { packArchive, readArchive } from "../../src/lib/package-archive.ts";
import { MAX_KEPT_BUNDLES_BYTES } from "../../src/lib/remote-build.ts";
import type { RepairsState } from "../project/bundle-repairs.ts";
import { bytesOf, type StoredFile } from "./virtual-fs.ts";

/** The bundle of a group of packages, before it is known which of the other groups' modules are ES modules. */
export type GroupPart = {
  text: string;
  /** By their paths from the project's folder. Of what they import there is only what is in no bundle. */
  inputs: esbuild.Metafile["inputs"];
  /** What is to be told of it. */
  warnings: string[];
};

/** A bundle with what was found out while it was made. */
export type KeptBundle = {
  part: GroupPart;
  /** The modules of other groups that it refers to. */
  references: string[];
  repairs: RepairsState;
};

/**
 * The bundles of packages of an earlier build with the same packages, by all that decides them there, and those that
 * this build adds.
 */
export class KeptBundles {
  readonly #earlier = new Map<string, StoredFile>();
  readonly #used = new Map<string, Uint8Array>();
  #taken = 0;
  #added = 0;

  /** What is no archive is as good as none: a build needs nothing that is kept. */
  constructor(archive: Uint8Array | null) {
    if (archive === null) return;
    try {
      for (const { path, ...stored } of readArchive(archive)) this.#earlier.set(path, stored);
    } catch {
      this.#earlier.clear();
    }
  }

  /** How many bundles were of an earlier build. */
  get taken(): number {
    return this.#taken;
  }

  /** The bundle that is decided by this text, if there is one. */
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
      // What cannot be read is made anew, and kept in the place of this one.
      return undefined;
    }
  }

  add(decidedBy: string, bundle: KeptBundle): void {
    this.#used.set(keyOf(decidedBy), new TextEncoder().encode(JSON.stringify(bundle)));
    this.#added += 1;
  }

  /** What this build has used, for the next one; null where that is what there was, or too much. */
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
