import { createRouter } from "../../../http/router.ts";
import { ApiError } from "../../../lib/api-error.ts";
import { admitWorkspace } from "../../../identity/private-connectivity.ts";
import { workspaceOfObject } from "../../shard/payload-objects.ts";
import { readGrant } from "../../attachments/attachment-url.ts";

/** Attachments and large payloads by the signed URLs that runs are read with; no key is needed. */
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
      // Somebody else's file: it must not run as a page of this host.
      "content-disposition": "attachment",
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "private, max-age=3600",
    },
  });
});
