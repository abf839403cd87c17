import { requireRoom } from "../../lib/local-disk.ts";
import {
  finishSourceUpload,
  insertSourceUpload,
  selectSourceUpload,
} from "../../db/source-uploads-repo.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import { readToken, signToken } from "../../secrets/signed-token.ts";
import type { DeploymentDeps } from "./deps.ts";

const PURPOSE = "source-upload";
const LIFETIME_MS = 3_600_000;

/** Maximum uploads of a workspace that were never deployed. They are kept for a day. */
const MAX_UNUSED = 100;

/** The first bytes of a gzip file. */
const GZIP_MAGIC = [0x1f, 0x8b];

/** What the holder of an upload URL may do without a key: store this one object until the URL expires. */
export type UploadGrant = { workspaceId: string; objectPath: string };

/**
 * Creates an upload for one tarball of the workspace. Returns the object's path, and the token that allows storing
 * it.
 */
export async function newUpload(
  deps: Pick<DeploymentDeps, "db" | "workspaceId" | "signingSecret">,
): Promise<{ token: string; objectPath: string }> {
  const { db, workspaceId, signingSecret } = deps;
  const objectPath = `${workspaceId}/uploads/${crypto.randomUUID()}.tar.gz`;
  const grant: UploadGrant = { workspaceId, objectPath };
  const token = await signToken(signingSecret, PURPOSE, grant, LIFETIME_MS);
  const row = { workspace_id: workspaceId, object_path: objectPath, created_at: Date.now() };
  if (!(await insertSourceUpload(db, row, MAX_UNUSED))) {
    const message = `The workspace has ${MAX_UNUSED} uploads that no revision names: deploy them, or wait a day`;
    throw new ApiError("rate_limited", message);
  }
  return { token, objectPath };
}

/** Returns the grant of a token; null when the token is not genuine or has expired. */
export function readUploadGrant(secret: string, token: string): Promise<UploadGrant | null> {
  return readToken<UploadGrant>(secret, PURPOSE, token);
}

/**
 * Stores an uploaded tarball. The object can be written only once, so that a revision's source never changes.
 * Repeating the same upload succeeds, for clients that did not receive the response; a different one is a 409.
 */
export async function storeUpload(
  env: Pick<Env, "DB" | "SOURCES">,
  { workspaceId, objectPath }: UploadGrant,
  bytes: Uint8Array,
): Promise<void> {
  if (GZIP_MAGIC.some((byte, index) => bytes[index] !== byte)) {
    throw new ApiError("bad_request", "The body is not a gzip file: send a .tar.gz");
  }
  const { DB, SOURCES } = env;
  const key = { workspaceId, objectPath };
  const upload = await selectSourceUpload(DB, key);
  if (upload === undefined) throw noSuchUpload();
  await requireRoom(env, bytes.byteLength);
  const stored = await SOURCES.put(objectPath, bytes, {
    onlyIf: new Headers({ "if-none-match": "*" }),
    httpMetadata: { contentType: "application/gzip" },
  });
  if (stored === null) await requireSame(SOURCES, objectPath, bytes);
  if (await finishSourceUpload(DB, key, bytes.byteLength)) return;
  await SOURCES.delete(objectPath);
  throw noSuchUpload();
}

/** Throws a 422 unless the path names an uploaded tarball of the workspace, or is null. */
export async function requireUpload(
  { db, workspaceId }: Pick<DeploymentDeps, "db" | "workspaceId">,
  objectPath: string | null,
): Promise<void> {
  if (objectPath === null) return;
  const upload = await selectSourceUpload(db, { workspaceId, objectPath });
  if (upload !== undefined && upload.size !== null) return;
  const message =
    upload === undefined
      ? "String should be the object_path from the response to an upload-url request"
      : "Nothing has been uploaded there yet";
  const loc = ["body", "source_revision_config", "source_tarball_path"];
  throw invalidField(loc, message, "value_error");
}

async function requireSame(
  sources: R2Bucket,
  objectPath: string,
  bytes: Uint8Array,
): Promise<void> {
  const [head, digest] = await Promise.all([
    sources.head(objectPath),
    crypto.subtle.digest("MD5", bytes),
  ]);
  const before = head?.checksums.md5;
  if (before !== undefined && Buffer.from(before).equals(Buffer.from(digest))) return;
  throw new ApiError("conflict", "A tarball was uploaded here already: ask for another upload URL");
}

function noSuchUpload(): ApiError {
  return new ApiError(
    "not_found",
    "This upload is not expected any more: request another upload URL",
  );
}
