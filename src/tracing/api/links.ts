import type { AppContext } from "../../http/app-types.ts";
import { microsToIso } from "../../lib/time.ts";
import type { PlacedRun } from "../query/run-source.ts";
import { readToken, signToken } from "../../secrets/signed-token.ts";
import { createRouter } from "../../http/router.ts";
import { ApiError } from "../../lib/api-error.ts";
import { admitWorkspace } from "../../identity/private-connectivity.ts";
import { workspaceOfObject } from "../shard/stored-payload.ts";
import type { RunShareRow } from "../../db/run-shares-repo.ts";
import { findShare } from "../query/shared-runs.ts";

const PURPOSE = "attachment";
const LIFETIME_MS = 3_600_000;

const ATTACHMENTS_PATH = "/api/v1/attachments";

/** `requestUrl` is any URL on the host that the links point to. */
type LinkSettings = { signingSecret: string; requestUrl: string };

/** The object that a signed URL gives access to, without an API key, until the URL expires. */
type AttachmentGrant = { object: string; mimeType: string };

/** Returns the settings for links in a response. The links point to the host of the current request. */
export function linkSettings(c: AppContext): LinkSettings {
  return { signingSecret: c.var.settings.signingSecret, requestUrl: c.req.url };
}

/** Returns the path of the run's page in the console, on the same host. */
export function appPath({ run, ref }: PlacedRun): string {
  return `/o/${ref.workspaceId}/projects/p/${ref.projectId}/r/${run.id}?trace_id=${run.trace_id}&start_time=${encodeURIComponent(microsToIso(run.start_time))}`;
}

/** Returns an absolute, signed URL of an attachment or of a payload that is stored in R2. */
export async function signedObjectUrl(
  { signingSecret, requestUrl }: LinkSettings,
  { object, mimeType }: { object: string; mimeType: string },
): Promise<string> {
  const grant: AttachmentGrant = { object, mimeType };
  const token = await signToken(signingSecret, PURPOSE, grant, LIFETIME_MS);
  return new URL(`${ATTACHMENTS_PATH}/${token}`, requestUrl).href;
}

/** Returns null if the token is not genuine or has expired. */
function readGrant(secret: string, token: string): Promise<AttachmentGrant | null> {
  return readToken<AttachmentGrant>(secret, PURPOSE, token);
}

/** Serves attachments and large payloads at the signed URLs that responses with runs contain, without a key. */
export const attachmentRoutes = createRouter();

attachmentRoutes.get("/attachments/:token", async (c) => {
  const grant = await readGrant(c.var.settings.signingSecret, c.req.param("token"));
  if (grant === null) throw new ApiError("forbidden", "This link is not valid, or has expired");
  await admitWorkspace(c, workspaceOfObject(grant.object));
  const object = await c.env.PAYLOADS.get(grant.object);
  if (object === null) throw new ApiError("not_found", "Attachment not found");
  return new Response(object.body, {
    headers: {
      "content-type": grant.mimeType,
      "content-length": String(object.size),
      // The file comes from a user: it must not run as a page of this host.
      "content-disposition": "attachment",
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "private, max-age=3600",
    },
  });
});

/**
 * Returns the share of a public request. Throws a 404 if there is none, and refuses the request if the
 * share's workspace may not be accessed on this host.
 */
export async function requireShare(c: AppContext, token: string): Promise<RunShareRow> {
  const share = await findShare(c.env.DB, token);
  await admitWorkspace(c, share.workspace_id);
  return share;
}
