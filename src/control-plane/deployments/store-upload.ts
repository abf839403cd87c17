import { finishSourceUpload, selectSourceUpload } from "../../db/source-uploads-repo.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { UploadGrant } from "./source-uploads.ts";

/** What a gzip file begins with. */
const GZIP_MAGIC = [0x1f, 0x8b];

/**
 * Stores a tarball in its place, which takes one: what a revision deploys does not change afterwards.
 * The same once more is fine, as from a client that has not seen the answer; 409 for another.
 */
export async function storeUpload(
  env: Env,
  { workspaceId, objectPath }: UploadGrant,
  bytes: Uint8Array,
): Promise<void> {
  if (GZIP_MAGIC.some((byte, index) => bytes[index] !== byte)) {
    throw new ApiError("bad_request", "The body is not a gzip file: send a .tar.gz");
  }
  const key = { workspaceId, objectPath };
  const upload = await selectSourceUpload(env.DB, key);
  if (upload === undefined) throw noSuchUpload();
  const stored = await env.SOURCES.put(objectPath, bytes, {
    onlyIf: new Headers({ "if-none-match": "*" }),
    httpMetadata: { contentType: "application/gzip" },
  });
  if (stored === null) await requireSame(env, objectPath, bytes);
  if (await finishSourceUpload(env.DB, key, bytes.byteLength)) return;
  await env.SOURCES.delete(objectPath);
  throw noSuchUpload();
}

async function requireSame(env: Env, objectPath: string, bytes: Uint8Array): Promise<void> {
  const [head, digest] = await Promise.all([
    env.SOURCES.head(objectPath),
    crypto.subtle.digest("MD5", bytes),
  ]);
  const before = head?.checksums.md5;
  if (before !== undefined && Buffer.from(before).equals(Buffer.from(digest))) return;
  throw new ApiError("conflict", "A tarball was uploaded here already: ask for another upload URL");
}

function noSuchUpload(): ApiError {
  return new ApiError("not_found", "Nobody waits for this upload any more: ask for another URL");
}
