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

/** How many uploads a workspace may have that nobody has deployed; they stay for a day. */
const MAX_UNUSED = 100;

/** What a gzip file begins with. */
const GZIP_MAGIC = [0x1f, 0x8b];

/** What an upload URL lets its holder do without a key: store this one object, until it expires. */
export type UploadGrant = { workspaceId: string; objectPath: string };

/** A place for one tarball of the workspace, and the token that lets its holder put it there. */
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

/** Null when the token is not genuine, or too old. */
export function readUploadGrant(secret: string, token: string): Promise<UploadGrant | null> {
  return readToken<UploadGrant>(secret, PURPOSE, token);
}

/**
 * Stores a tarball in its place, which takes one: what a revision deploys does not change afterwards.
 * The same once more is fine, as from a client that has not seen the answer; another one is a 409.
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

/** It throws a 422 unless the path is that of a tarball of the workspace, which is there; null names none. */
export async function requireUpload(
  { db, workspaceId }: Pick<DeploymentDeps, "db" | "workspaceId">,
  objectPath: string | null,
): Promise<void> {
  if (objectPath === null) return;
  const upload = await selectSourceUpload(db, { workspaceId, objectPath });
  if (upload !== undefined && upload.size !== null) return;
  const message =
    upload === undefined
      ? "String should be an object_path that an upload-url request was answered with"
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
  return new ApiError("not_found", "Nobody waits for this upload any more: ask for another URL");
}
