import { createRoute, z } from "@hono/zod-openapi";
import { findLatestSecrets } from "../../db/deployment-lookup-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { readBody } from "../../http/json-body.ts";
import { createRouter } from "../../http/router.ts";
import { admitWorkspace } from "../../identity/private-connectivity.ts";
import { ApiError } from "../../lib/api-error.ts";
import { openSecrets, onlySecret } from "../../revision-host/revision-secrets.ts";
import { withSecretBox } from "../../secrets/secret-box.ts";
import { PUSH_SECRET } from "../../secrets/secret-names.ts";
import { isHexSignatureOf } from "../../secrets/signature.ts";
import { buildPush, endBranch } from "./build-push.ts";
import { deploymentDepsOfWorkspace } from "./deps.ts";
import { readDeletion, readPush } from "./push-event.ts";
import { deploymentParams } from "./schemas.ts";

/** Routes that GitHub calls. They require its signature instead of a key. */
export const pushRoutes = createRouter();

/** Maximum size of an event. It is read before its sender is authenticated. */
const MAX_EVENT_BYTES = 5 * 1024 * 1024;

const SIGNATURE_PREFIX = "sha256=";

pushRoutes.openapi(
  createRoute({
    method: "post",
    path: "/deployments/{deployment_id}/github-webhook",
    tags: ["Deployments"],
    summary: "The URL for GitHub's webhook; needs GitHub's signature instead of a key",
    security: [],
    request: { params: deploymentParams },
    responses: {
      200: {
        description: "The result of the event; revision_id is null when no revision was made",
        content: {
          "application/json": {
            schema: z
              .object({ revision_id: z.string().nullable(), message: z.string() })
              .openapi("PushOutcome"),
          },
        },
      },
      401: { description: "The event is not signed by the secret of such a deployment" },
    },
  }),
  async (c) => {
    const { deployment_id: deploymentId } = c.req.valid("param");
    const body = await readBody(c.req.raw, MAX_EVENT_BYTES);
    const workspaceId = await requireSigned(c, deploymentId, body);
    await admitWorkspace(c, workspaceId);
    const event = c.req.header("x-github-event");
    if (event === undefined) throw new ApiError("bad_request", "X-GitHub-Event is missing");
    if (event === "ping") {
      return c.json({ revision_id: null, message: "The deployment listens to pushes" }, 200);
    }
    const [deps, type] = [
      deploymentDepsOfWorkspace(c, workspaceId),
      c.req.header("content-type") ?? "",
    ];
    if (event === "delete") {
      return c.json(await endBranch(deps, deploymentId, readDeletion(body, type)), 200);
    }
    if (event !== "push") {
      return c.json({ revision_id: null, message: "Ignored: only pushes are listened to" }, 200);
    }
    return c.json(await buildPush(deps, deploymentId, readPush(body, type)), 200);
  },
);

/**
 * Returns the workspace of the deployment whose secret has signed the body. Throws the same 401 for a wrong
 * signature, a missing one, an unknown deployment and one without the secret.
 */
async function requireSigned(
  c: AppContext,
  deploymentId: string,
  body: Uint8Array,
): Promise<string> {
  const found = await findLatestSecrets(c.env.DB, deploymentId);
  const header = c.req.header("x-hub-signature-256") ?? "";
  if (found !== undefined && header.startsWith(SIGNATURE_PREFIX)) {
    const { workspaceId } = found;
    const opened = await withSecretBox("The signature cannot be verified", () =>
      openSecrets(
        c.var.settings.encryptionKeys,
        { workspaceId, deploymentId },
        onlySecret(PUSH_SECRET, found.secrets),
      ),
    );
    const secret = opened[PUSH_SECRET];
    const signature = header.slice(SIGNATURE_PREFIX.length);
    if (secret !== undefined && (await isHexSignatureOf(secret, body, signature))) {
      return workspaceId;
    }
  }
  const message = "X-Hub-Signature-256 is not a signature by the secret of such a deployment";
  throw new ApiError("unauthorized", message);
}
