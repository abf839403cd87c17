import { extname } from "node:path";
import { gunzipSync } from "node:zlib";
import { unpackTar } from "modern-tar";
import { packArchive } from "../../lib/package-archive.ts";
import { MAX_PACKAGE_UNPACKED_BYTES } from "../../lib/remote-build.ts";

/** The algorithms in lockfiles, from the strongest to the weakest. */
const ALGORITHMS = ["sha512", "sha384", "sha256", "sha1"] as const;
const DIGESTS = { sha512: "SHA-512", sha384: "SHA-384", sha256: "SHA-256", sha1: "SHA-1" } as const;

export type Integrity = { algorithm: (typeof ALGORITHMS)[number]; digest: Uint8Array };

/** Files that never become part of a bundle: declarations, source maps, documentation. */
const UNUSED =
  /\.(?:d\.[cm]?ts|map|md|markdown|flow|tsbuildinfo)$|(?:^|\/)(?:LICENSE|CHANGELOG)[^/]*$/i;

/** Files that the type compiler reads: declarations, and the manifests that say where they are. */
const DECLARES = /\.d\.[cm]?ts$|(?:^|\/)package\.json$/;

/** File extensions that a bundler reads. Other files are pictures, programs and the like. */
const READ = new Set([
  ".js",
  ".mjs",
  ".cjs",
  ".jsx",
  ".ts",
  ".mts",
  ".cts",
  ".tsx",
  ".json",
  ".wasm",
  ".txt",
  ".html",
  ".sql",
  ".css",
  ".bin",
  ".node",
]);

/** Returns the strongest known digest of a Subresource Integrity text; null when there is none. */
export function parseIntegrity(text: string): Integrity | null {
  const parts = text.trim().split(/\s+/);
  for (const algorithm of ALGORITHMS) {
    const part = parts.find((candidate) => candidate.startsWith(`${algorithm}-`));
    const base64 = part?.slice(algorithm.length + 1).replace(/\?.*$/, "");
    if (base64 === undefined || !/^[A-Za-z0-9+/]+=*$/.test(base64)) continue;
    return { algorithm, digest: new Uint8Array(Buffer.from(base64, "base64")) };
  }
  return null;
}

/** Whether the bytes have the digest of the locked package. */
export async function hasIntegrity(
  bytes: Uint8Array,
  { algorithm, digest }: Integrity,
): Promise<boolean> {
  const found = await crypto.subtle.digest(DIGESTS[algorithm], new Uint8Array(bytes));
  return Buffer.from(found).equals(Buffer.from(digest));
}

/**
 * Repacks a package's tarball from the registry into the archive for builds, with only the files that a bundler
 * may read. Throws when it is not a package's tarball, or too large.
 */
export function repackPackage(tarball: Uint8Array): Promise<Uint8Array> {
  return repackFiles(tarball, isRead);
}

/** Repacks the files that the type compiler reads, as `repackPackage` does for the bundler. */
export function repackDeclarations(tarball: Uint8Array): Promise<Uint8Array> {
  return repackFiles(tarball, (path) => DECLARES.test(path) && !path.split("/").includes(".."));
}

async function repackFiles(
  tarball: Uint8Array,
  isWanted: (path: string) => boolean,
): Promise<Uint8Array> {
  const unpacked = gunzipSync(tarball, { maxOutputLength: MAX_PACKAGE_UNPACKED_BYTES });
  const files = new Map<string, Uint8Array>();
  for (const { header, data } of await unpackTar(unpacked)) {
    // Everything is in one folder, which most packages call "package".
    const path = header.name.replace(/^(?:\.\/)*[^/]+\//, "");
    if (header.type !== "file" || data === undefined || !isWanted(path)) continue;
    files.set(path, data);
  }
  return packArchive([...files].map(([path, bytes]) => ({ path, bytes })));
}

function isRead(path: string): boolean {
  if (path === "" || path.split("/").includes("..")) return false;
  return READ.has(extname(path).toLowerCase()) && !UNUSED.test(path);
}
