import { createRoute, z } from "@hono/zod-openapi";
import { selectOAuthAttempt } from "../../db/oauth-attempts-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { createRouter } from "../../http/router.ts";
import { admitWorkspace } from "../../identity/private-connectivity.ts";
import { oauthDepsOf, keepGoing } from "./deps.ts";
import { DONE_PAGE_HEADERS, donePage } from "./done-page.ts";
import { finishAttempt, type AttemptOutcome } from "./finish-attempt.ts";
import { providerIdString } from "./schemas.ts";

/** Routes for a user's browser, which has no key. */
export const callbackRoutes = createRouter();

/** The same callback for clients with a key: pages that forward the parameters they were called with. */
export const finalizeRoutes = createRouter();

const DONE_PATH = "/v2/auth/done";

const tags = ["Auth service"];
const text = z.string().max(16_384);
const params = z.object({ provider_id: providerIdString });

/** Unknown parameters are ignored, because providers add different ones. */
const answerQuery = z.strictObject({
  code: text.optional(),
  state: text.optional(),
  error: text.optional(),
  error_description: text.optional(),
});

/**
 * GET routes also answer HEAD, but a client that only checks a link must not use up its state. HEAD is therefore
 * refused.
 */
for (const [path, allow] of [
  ["/auth/callback/:provider_id", "GET, POST"],
  ["/auth/setup/:provider_id", "GET"],
] as const) {
  callbackRoutes.use(path, async (c, next) => {
    if (c.req.method !== "HEAD") return next();
    c.header("allow", allow);
    throw new ApiError("method_not_allowed", "Method Not Allowed");
  });
}

callbackRoutes.openapi(
  createRoute({
    method: "get",
    path: "/auth/callback/{provider_id}",
    tags,
    summary:
      "The page to which an OAuth provider sends the user back; needs the state instead of a key",
    security: [],
    request: {
      params,
      query: answerQuery,
    },
    responses: {
      302: { description: "A redirect to the page that shows whether a token was stored" },
    },
  }),
  async (c) => {
    const { error_description: errorDescription, ...query } = c.req.valid("query");
    const answer = { ...query, ...providerOf(c.req.valid("param")), errorDescription };
    await admitAttempt(c, query.state);
    const outcome = await keepGoing(c, finishAttempt(oauthDepsOf(c), answer));
    return redirectToEnd(c, outcome);
  },
);

callbackRoutes.openapi(
  createRoute({
    method: "get",
    path: "/auth/setup/{provider_id}",
    tags,
    summary:
      "The page to which GitHub sends a user who has installed an app; needs the state instead of a key",
    security: [],
    request: {
      params,
      query: answerQuery.extend({
        setup_action: text.optional(),
        installation_id: text.optional(),
      }),
    },
    responses: {
      302: { description: "A redirect to the page that shows the result" },
    },
  }),
  async (c) => {
    const {
      setup_action: action,
      error_description: errorDescription,
      ...query
    } = c.req.valid("query");
    const of = providerOf(c.req.valid("param"));
    // A user who only changed an installation has started no attempt.
    if (action !== undefined && !query.state && !query.error) {
      return redirectToEnd(c, { ...of, authId: null, failure: setupFailure(action) });
    }
    await admitAttempt(c, query.state);
    const answer = { ...query, ...of, errorDescription };
    return redirectToEnd(c, await keepGoing(c, finishAttempt(oauthDepsOf(c), answer)));
  },
);

callbackRoutes.openapi(
  createRoute({
    method: "get",
    path: "/auth/done",
    tags,
    summary: "The page that shows the user the result of connecting a service; needs no key",
    security: [],
    request: {
      query: z.strictObject({
        status: z.string().optional(),
        error: z.string().optional(),
        auth_id: z.string().optional(),
      }),
    },
    responses: {
      200: { description: "The page", content: { "text/html": { schema: z.string() } } },
    },
  }),
  async (c) => {
    const { auth_id: authId, ...outcome } = c.req.valid("query");
    await admitAttempt(c, authId);
    return c.html(donePage(outcome), 200, DONE_PAGE_HEADERS);
  },
);

finalizeRoutes.openapi(
  createRoute({
    method: "post",
    path: "/auth/callback/{provider_id}",
    tags,
    summary: "Exchange the code that a page of your own was called with",
    request: {
      params,
      body: {
        required: true,
        content: {
          "application/json": {
            schema: z
              .strictObject({ code: text.min(1), state: text.min(1) })
              .openapi("OAuthFinalizeRequest"),
          },
        },
      },
    },
    responses: {
      200: {
        description: "The token is stored",
        content: {
          "application/json": {
            schema: z.object({
              status: z.literal("completed"),
              provider_id: z.string(),
              auth_id: z.string(),
            }),
          },
        },
      },
    },
  }),
  async (c) => {
    const answer = {
      ...c.req.valid("json"),
      ...providerOf(c.req.valid("param")),
      workspaceId: c.var.scope.workspaceId,
    };
    const { providerId, authId, failure } = await keepGoing(
      c,
      finishAttempt(oauthDepsOf(c), answer),
    );
    if (failure !== null || authId === null) {
      throw new ApiError("bad_request", `${failure?.error}: ${failure?.description}`);
    }
    return c.json({ status: "completed" as const, provider_id: providerId, auth_id: authId }, 200);
  },
);

/** Admits the workspace of the attempt, because a browser has no key. */
async function admitAttempt(c: AppContext, authId: string | undefined): Promise<void> {
  const attempt = authId ? await selectOAuthAttempt(c.env.DB, authId) : undefined;
  if (attempt !== undefined) await admitWorkspace(c, attempt.workspace_id);
}

/** Returns the failure of a user who may not install the app and has requested an owner's approval. */
function setupFailure(action: string): AttemptOutcome["failure"] {
  if (action !== "request") return null;
  return { error: "access_denied", description: "An owner has to approve the installation first" };
}

function redirectToEnd(c: AppContext, outcome: AttemptOutcome) {
  c.header("cache-control", "no-store");
  c.header("referrer-policy", "no-referrer");
  return c.redirect(endPage(c, outcome), 302);
}

function endPage(c: AppContext, { providerId, authId, failure }: AttemptOutcome): string {
  const page = c.var.settings.oauthCallbackPage ?? new URL(DONE_PATH, c.req.url).href;
  const url = new URL(page);
  url.searchParams.set("status", failure === null ? "completed" : "failed");
  url.searchParams.set("provider_id", providerId);
  if (authId !== null) url.searchParams.set("auth_id", authId);
  if (failure !== null) {
    url.searchParams.set("error", failure.error);
    url.searchParams.set("error_description", failure.description);
  }
  return url.href;
}

function providerOf({ provider_id: providerId }: { provider_id: string }): { providerId: string } {
  return { providerId };
}
