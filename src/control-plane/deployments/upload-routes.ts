import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { readBody } from "../../http/json-body.ts";
import { createRouter } from "../../http/router.ts";
import { admitWorkspace } from "../../identity/private-connectivity.ts";
import { MAX_TARBALL_BYTES } from "../../lib/project-manifest.ts";
import { deploymentDepsOf } from "./deps.ts";
import { requireKeptDeployment } from "./find-deployments.ts";
import { requireSourcePlan } from "./revision-service.ts";
import { deploymentParams } from "./schemas.ts";
import { newUpload, readUploadGrant, storeUpload } from "./source-uploads.ts";

/** Routes that create upload URLs for tarballs of built projects. */
export const uploadRoutes = createRouter();

/** Routes that receive the uploads. The signed URL is the only credential. */
export const signedUploadRoutes = createRouter();

/** `<smallest>,<largest>` in bytes: a header by which clients of object stores limit the size of an upload. */
const LENGTH_RANGE = /^(\d{1,15}),(\d{1,15})$/;

const UPLOADS_PATH = "/v2/uploads";

const tags = ["Deployments"];

const noFields = {
  content: { "application/json": { schema: z.strictObject({}) } },
};

const uploadAnswer = {
  200: {
    description: "The URL to PUT the tarball to, and its path for source_tarball_path",
    content: {
      "application/json": {
        schema: z
          .object({ upload_url: z.string(), object_path: z.string() })
          .openapi("UploadUrlResponse"),
      },
    },
  },
};

uploadRoutes.openapi(
  createRoute({
    method: "post",
    path: "/deployments/upload-url",
    tags,
    summary: "Get an upload URL for the tarball of a new deployment",
    request: { body: noFields },
    responses: uploadAnswer,
  }),
  async (c) => {
    await requireSourcePlan(deploymentDepsOf(c), "internal_source");
    return c.json(await uploadUrl(c), 200);
  },
);

uploadRoutes.openapi(
  createRoute({
    method: "post",
    path: "/deployments/{deployment_id}/upload-url",
    tags,
    summary: "Get an upload URL for the tarball of a deployment's next revision",
    request: { params: deploymentParams, body: noFields },
    responses: uploadAnswer,
  }),
  async (c) => {
    await requireKeptDeployment(deploymentDepsOf(c), c.req.valid("param").deployment_id);
    await requireSourcePlan(deploymentDepsOf(c), "internal_source");
    return c.json(await uploadUrl(c), 200);
  },
);

signedUploadRoutes.put("/uploads/:token", async (c) => {
  const grant = await readUploadGrant(c.var.settings.signingSecret, c.req.param("token"));
  if (grant === null) throw new ApiError("forbidden", "This link is not valid, or has expired");
  await admitWorkspace(c, grant.workspaceId);
  const bytes = await readBody(c.req.raw, MAX_TARBALL_BYTES);
  checkLengthRange(c, bytes.byteLength);
  await storeUpload(c.env, grant, bytes);
  return c.body(null, 200);
});

async function uploadUrl(c: AppContext): Promise<{ upload_url: string; object_path: string }> {
  const { token, objectPath } = await newUpload(deploymentDepsOf(c));
  return {
    upload_url: new URL(`${UPLOADS_PATH}/${token}`, c.req.url).href,
    object_path: objectPath,
  };
}

function checkLengthRange(c: AppContext, bytes: number): void {
  const name = "x-goog-content-length-range";
  const header = c.req.header(name);
  if (header === undefined) return;
  const [, smallest, largest] = LENGTH_RANGE.exec(header) ?? [];
  if (smallest === undefined || largest === undefined) {
    throw new ApiError("bad_request", `${name} should be two numbers separated by a comma`);
  }
  if (bytes >= Number(smallest) && bytes <= Number(largest)) return;
  throw new ApiError("bad_request", `The body has ${bytes} bytes, which is not within ${name}`);
}
