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

/** What a user's browser asks for, which has no key. */
export const callbackRoutes = createRouter();

/** The same with a key, for a page that passes on what it was called with. */
export const finalizeRoutes = createRouter();

const DONE_PATH = "/v2/auth/done";

const tags = ["Auth service"];
const text = z.string().max(16_384);
const params = z.object({ provider_id: providerIdString });

/** What providers send more than this is each something else. */
const answerQuery = z.strictObject({
  code: text.optional(),
  state: text.optional(),
  error: text.optional(),
  error_description: text.optional(),
});

/** A HEAD is answered by the route of GET; whoever only looks at a link is not to use its state up. */
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
    summary: "Where an OAuth provider sends the user back to; needs no key, but the state",
    security: [],
    request: {
      params,
      query: answerQuery,
    },
    responses: {
      302: { description: "To the page that shows how it ended: with a token, or not" },
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
    summary: "Where GitHub sends the user who has installed an app; needs no key, but the state",
    security: [],
    request: {
      params,
      query: answerQuery.extend({
        setup_action: text.optional(),
        installation_id: text.optional(),
      }),
    },
    responses: {
      302: { description: "To the page that shows how it ended" },
    },
  }),
  async (c) => {
    const {
      setup_action: action,
      error_description: errorDescription,
      ...query
    } = c.req.valid("query");
    const of = providerOf(c.req.valid("param"));
    // Whoever only changed what is installed has begun no attempt.
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
    summary: "A page that tells the user how connecting a service ended; needs no key",
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
    summary: "Exchange a code that a page of yours was called with",
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

/** A browser has no key: the attempt that it is about tells the workspace. */
async function admitAttempt(c: AppContext, authId: string | undefined): Promise<void> {
  const attempt = authId ? await selectOAuthAttempt(c.env.DB, authId) : undefined;
  if (attempt !== undefined) await admitWorkspace(c, attempt.workspace_id);
}

/** One who may not install an app asks somebody who may. */
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
