import { insertSourceUpload } from "../../db/source-uploads-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { readToken, signToken } from "../../secrets/signed-token.ts";

const PURPOSE = "source-upload";
const LIFETIME_MS = 3_600_000;

/** Of a workspace: what nobody has deployed stays for a day. */
const MAX_UNUSED = 100;

const UPLOADS_PATH = "/v2/uploads";

/** What an URL lets its holder do, without a key: store this one object, until it expires. */
export type UploadGrant = { workspaceId: string; objectPath: string; expiresAt: number };

/** A place for one tarball of the workspace, and an absolute URL to put it there with. */
export async function newUploadUrl(
  c: AppContext,
): Promise<{ upload_url: string; object_path: string }> {
  const { workspaceId } = c.var.scope;
  const objectPath = `${workspaceId}/uploads/${crypto.randomUUID()}.tar.gz`;
  const now = Date.now();
  const grant: UploadGrant = { workspaceId, objectPath, expiresAt: now + LIFETIME_MS };
  const token = await signToken(c.var.settings.signingSecret, PURPOSE, grant);
  const row = { workspace_id: workspaceId, object_path: objectPath, created_at: now };
  if (!(await insertSourceUpload(c.env.DB, row, MAX_UNUSED))) {
    const message = `The workspace has ${MAX_UNUSED} uploads that no revision names: deploy them, or wait a day`;
    throw new ApiError("rate_limited", message);
  }
  return {
    upload_url: new URL(`${UPLOADS_PATH}/${token}`, c.req.url).href,
    object_path: objectPath,
  };
}

/** Null when the token is not genuine, or too old. */
export async function readUploadGrant(secret: string, token: string): Promise<UploadGrant | null> {
  const grant = (await readToken(secret, PURPOSE, token)) as UploadGrant | null;
  return grant === null || grant.expiresAt < Date.now() ? null : grant;
}
