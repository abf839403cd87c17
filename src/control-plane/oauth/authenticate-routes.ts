import { createRoute } from "@hono/zod-openapi";
import { createRouter } from "../../http/router.ts";
import { authenticate } from "./authenticate.ts";
import { callingUser, tokenOwner, workspaceDepsOf } from "./deps.ts";
import {
  authenticatedSchema,
  authenticateSchema,
  waitParams,
  waitQuery,
  waitSchema,
} from "./schemas.ts";
import { withSecrets } from "./sealed-secrets.ts";
import { waitForToken } from "./wait-for-token.ts";

export const authenticateRoutes = createRouter();

const tags = ["Auth service"];

authenticateRoutes.openapi(
  createRoute({
    method: "post",
    path: "/auth/authenticate",
    tags,
    summary: "Get a token of a user, or the URL to which to send the user to get one",
    request: {
      body: { required: true, content: { "application/json": { schema: authenticateSchema } } },
    },
    responses: {
      200: {
        description: "The token, or the URL and the id to wait for",
        content: { "application/json": { schema: authenticatedSchema } },
      },
    },
  }),
  async (c) => {
    const body = c.req.valid("json");
    const owner = tokenOwner(c, body.user_id ?? body.ls_user_id);
    const authenticated = await withSecrets(() => authenticate(workspaceDepsOf(c), owner, body));
    c.header("cache-control", "no-store");
    return c.json(authenticated, 200);
  },
);

authenticateRoutes.openapi(
  createRoute({
    method: "get",
    path: "/auth/wait/{auth_id}",
    tags,
    summary: "Wait until a user has connected a service; timeout is in seconds",
    request: { params: waitParams, query: waitQuery },
    responses: {
      200: {
        description: "The result, or that the attempt has not ended yet",
        content: { "application/json": { schema: waitSchema } },
      },
    },
  }),
  async (c) => {
    const { auth_id: authId } = c.req.valid("param");
    const timeoutMs = c.req.valid("query").timeout * 1000;
    const user = callingUser(c);
    const waited = await withSecrets(() =>
      waitForToken(workspaceDepsOf(c), { authId, user, timeoutMs }),
    );
    c.header("cache-control", "no-store");
    return c.json(waited, 200);
  },
);
