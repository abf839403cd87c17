import type { SchemasAnswer, TypesRequest } from "./remote-types.ts";
import { BYTES_PER_MB } from "./bytes.ts";

/** The messages between the platform and the isolate that builds a project, and the limits of a build. */

/** Maximum compressed bytes of a repository's archive or an upload. A build holds it in 128 MB of memory. */
export const MAX_REPOSITORY_BYTES = 16 * 1024 * 1024;

/** Maximum number of a repository's files that a build reads, and their maximum unpacked bytes. */
export const MAX_REPOSITORY_FILES = 10_000;
export const MAX_REPOSITORY_UNPACKED_BYTES = 48 * 1024 * 1024;

/** Maximum unpacked bytes of a whole archive, including files that the build ignores. Reading stops beyond it. */
export const MAX_ARCHIVE_UNPACKED_BYTES = 256 * 1024 * 1024;

export const MAX_PACKAGES = 1500;

/** Maximum bytes of one package: compressed as in the registry, and unpacked. */
export const MAX_PACKAGE_BYTES = 16 * 1024 * 1024;
export const MAX_PACKAGE_UNPACKED_BYTES = 64 * 1024 * 1024;

/** Maximum bytes of all packages together, in the form in which a build holds them. */
export const MAX_INSTALLED_BYTES = 48 * 1024 * 1024;

/** Maximum compressed bytes of the package bundles that are kept for a project's next build. */
export const MAX_KEPT_BUNDLES_BYTES = 8 * 1024 * 1024;

export const BUILD_TIMEOUT_MS = 300_000;

/** The advice for a build that exceeds these limits. */
export const BUILD_LOCALLY =
  "build the project on your machine, with threadworks deploy --build local";

/** Returns the clause of a message that names the largest package. */
export function largestOf({ name, bytes }: LargestPackage): string {
  return `the largest of its packages is ${name}, with ${(bytes / BYTES_PER_MB).toFixed(1)} MB`;
}

/** A package as its lockfile names it. */
export type LockedPackage = {
  name: string;
  version: string;
  /**
   * Subresource Integrity metadata: `sha512-<base64>`, possibly several separated by spaces. Null when the
   * lockfile has none for the registry's archive; the archive must then match the digest that the registry states.
   */
  integrity: string | null;
};

/** The binding through which a build gets the files of packages, verified and compressed. */
export interface PackageSource {
  get: (wanted: LockedPackage) => Promise<PackageAnswer>;
  /** Bundles kept by earlier builds of the same workspace whose inputs have the same digest, `decidedBy`. */
  bundles: (decidedBy: string) => Promise<Uint8Array | null>;
  keepBundles: (decidedBy: string, archive: Uint8Array) => Promise<void>;
  /** The schemas of the project's graphs, read from its types, or warnings that say why some are missing. */
  schemas: (request: TypesRequest) => Promise<SchemasAnswer>;
}

/** `digest` is that of the archive in the registry. `message` tells the user what is wrong with the package. */
export type PackageAnswer =
  | { ok: true; archive: Uint8Array; digest: string; isCached: boolean }
  | { ok: false; message: string };

export type BuildRequest = {
  /** A gzipped tar archive. */
  archive: Uint8Array;
  /** Whether the archive has one top-level folder that contains everything, as archives of Git hosts have. */
  isInFolder: boolean;
  /** The path of `langgraph.json` in the repository. */
  configPath: string;
};

export type BuildAnswer =
  | { ok: true; tarball: Uint8Array }
  /** `message` tells the user what is wrong with the project. */
  | { ok: false; message: string };

/** The project has UI components, and this isolate lacks the bundler for them. */
export type NeedsUiBundler = { needs: "ui-bundler" };

export type BuildLine = {
  level: "info" | "warn";
  message: string;
  /** The largest package, on the line that reports that the packages are installed. */
  largest?: LargestPackage;
};

/** `bytes` is the size that a build holds: compressed, and without files that no bundler reads. */
export type LargestPackage = { name: string; bytes: number };

/** Appends lines to the log of a running build. Rejects when the build has been given up. */
export type TellBuild = (lines: BuildLine[]) => Promise<void>;

export interface RemoteBuilderApi {
  build: (request: BuildRequest, tell: TellBuild) => Promise<BuildAnswer | NeedsUiBundler>;
}
