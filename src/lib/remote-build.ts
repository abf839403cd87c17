import type { SchemasAnswer, TypesRequest } from "./remote-types.ts";
import { BYTES_PER_MB } from "./bytes.ts";

/** What the platform and the isolate that builds a project say to each other, and what bounds a build. */

/** Of a repository's archive or an upload, compressed. A build holds it in 128 MB. */
export const MAX_REPOSITORY_BYTES = 16 * 1024 * 1024;

/** Of the files of a repository that a build reads, unpacked. */
export const MAX_REPOSITORY_FILES = 10_000;
export const MAX_REPOSITORY_UNPACKED_BYTES = 48 * 1024 * 1024;

/** Of all that is in an archive, what is left out of a build with it: nobody reads a longer one to its end. */
export const MAX_ARCHIVE_UNPACKED_BYTES = 256 * 1024 * 1024;

export const MAX_PACKAGES = 1500;

/** Of one package, as the registry has it, and unpacked. */
export const MAX_PACKAGE_BYTES = 16 * 1024 * 1024;
export const MAX_PACKAGE_UNPACKED_BYTES = 64 * 1024 * 1024;

/** Of all packages together, as a build holds them. */
export const MAX_INSTALLED_BYTES = 48 * 1024 * 1024;

/** Of the bundles of a project's packages that are kept for its next build, compressed. */
export const MAX_KEPT_BUNDLES_BYTES = 8 * 1024 * 1024;

export const BUILD_TIMEOUT_MS = 300_000;

/** What to do about a build that is beyond these bounds. */
export const BUILD_LOCALLY =
  "build the project on your machine, with threadworks deploy --build local";

/** The part of a sentence that says which package to look at. */
export function largestOf({ name, bytes }: LargestPackage): string {
  return `the largest of its packages is ${name}, with ${(bytes / BYTES_PER_MB).toFixed(1)} MB`;
}

/** A package as a lockfile names it. */
export type LockedPackage = {
  name: string;
  version: string;
  /**
   * As Subresource Integrity has it: `sha512-<base64>`, several separated by spaces. Null where the lockfile has none of
   * the registry's archive: it has to have the one that the registry tells, then.
   */
  integrity: string | null;
};

/** What the build of a project is bound to: it answers with the files of packages, checked and compressed. */
export interface PackageSource {
  get: (wanted: LockedPackage) => Promise<PackageAnswer>;
  /** What builds of the same workspace have kept for those that are decided by the same, by a digest of all of it. */
  bundles: (decidedBy: string) => Promise<Uint8Array | null>;
  keepBundles: (decidedBy: string, archive: Uint8Array) => Promise<void>;
  /** What the project's types say of its graphs, or sentences that say why they do not. */
  schemas: (request: TypesRequest) => Promise<SchemasAnswer>;
}

/** `digest` is that of the archive in the registry. `message` says what is wrong with the package, for the user. */
export type PackageAnswer =
  | { ok: true; archive: Uint8Array; digest: string; isCached: boolean }
  | { ok: false; message: string };

export type BuildRequest = {
  /** A gzipped tar archive. */
  archive: Uint8Array;
  /** Whether the archive has one folder in which everything is, as those of Git hosts have. */
  isInFolder: boolean;
  /** The path of `langgraph.json` in the repository. */
  configPath: string;
};

export type BuildAnswer =
  | { ok: true; tarball: Uint8Array }
  /** `message` says what is wrong with the project, for the user. */
  | { ok: false; message: string };

/** The project has components, and this isolate not what bundles them. */
export type NeedsUiBundler = { needs: "ui-bundler" };

export type BuildLine = {
  level: "info" | "warn";
  message: string;
  /** With the line that says that the packages are there: the largest of them. */
  largest?: LargestPackage;
};

/** Its size is that of what a build holds of it: compressed, and without what no bundler reads. */
export type LargestPackage = { name: string; bytes: number };

/** Adds lines to the log of a build that goes on; it rejects when that has been given up. */
export type TellBuild = (lines: BuildLine[]) => Promise<void>;

export interface RemoteBuilderApi {
  build: (request: BuildRequest, tell: TellBuild) => Promise<BuildAnswer | NeedsUiBundler>;
}
