import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";
import { hasDeployment, hasRevision } from "../../db/deployment-lookup-repo.ts";
import type { AppContext, AppEnv } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { createRouter } from "../../http/router.ts";
import type { Scope } from "../../lib/scope.ts";
import { startOfDay } from "../../lib/utc-day.ts";
import { deploymentParams } from "../deployments/schemas.ts";
import { revisionParams } from "../deployments/revision-schemas.ts";
import { toLogPageJson, toLogQuery } from "./log-json.ts";
import type { LogKind } from "../../deployment-log/log-line.ts";
import {
  type LogPageJson,
  logPageSchema,
  logQuerySchema,
  type LogRequest,
  usageQuery,
  usageSchema,
} from "./log-schemas.ts";
import { logStub } from "../../deployment-log/record.ts";

/** What a rollout wrote before the revision's code ran at all. */
const BUILD: LogKind[] = ["build"];
/** What starting the revision, and its code from then on, wrote. */
const RUNTIME: LogKind[] = ["deploy", "server"];

const tags = ["Deployment logs"];

const body = { required: true, content: { "application/json": { schema: logQuerySchema } } };

const answer = {
  200: {
    description: "A page of the log",
    content: { "application/json": { schema: logPageSchema } },
  },
};

/** The logs of deployments, below `deployments`: the path that lists them on this version of the API. */
export function logRoutes(deployments: string): OpenAPIHono<AppEnv> {
  const routes = createRouter();
  const deployment = `${deployments}/{deployment_id}`;
  const revision = `${deployment}/revisions/{revision_id}`;

  routes.openapi(
    createRoute({
      method: "post",
      path: `${revision}/build_logs`,
      tags,
      summary: "Read what the build of a revision logged",
      request: { params: revisionParams, body },
      responses: answer,
    }),
    async (c) => {
      const { deployment_id: id, revision_id: revisionId } = c.req.valid("param");
      return c.json(await readRevisionLogs(c, id, revisionId, BUILD, c.req.valid("json")), 200);
    },
  );

  routes.openapi(
    createRoute({
      method: "post",
      path: `${revision}/deploy_logs`,
      tags,
      summary: "Read what starting a revision, and then its code, logged",
      request: { params: revisionParams, body },
      responses: answer,
    }),
    async (c) => {
      const { deployment_id: id, revision_id: revisionId } = c.req.valid("param");
      return c.json(await readRevisionLogs(c, id, revisionId, RUNTIME, c.req.valid("json")), 200);
    },
  );

  routes.openapi(
    createRoute({
      method: "post",
      path: `${deployment}/deploy_logs`,
      tags,
      summary: "Read the same of all revisions of a deployment",
      request: { params: deploymentParams, body },
      responses: answer,
    }),
    async (c) => {
      const scope = await requireLog(c, c.req.valid("param").deployment_id);
      const query = toLogQuery(c.req.valid("json"), { kinds: RUNTIME, revisionId: null });
      return c.json(toLogPageJson(await logStub(c.env, scope).list(query)), 200);
    },
  );

  return routes;
}

export const usageRoutes = createRouter();

usageRoutes.openapi(
  createRoute({
    method: "get",
    path: "/deployments/{deployment_id}/usage",
    tags: ["Deployment logs"],
    summary:
      "List what a deployment's code used of the network and of the store, by day, the newest first",
    request: { params: deploymentParams, query: usageQuery },
    responses: {
      200: {
        description: "The days on which it used something",
        content: { "application/json": { schema: usageSchema } },
      },
    },
  }),
  async (c) => {
    const scope = await requireLog(c, c.req.valid("param").deployment_id);
    const { limit, offset } = c.req.valid("query");
    const days = await logStub(c.env, scope).listUsage({ limit, offset });
    const resources = days.map(({ day, ...usage }) => Object.assign({ day: isoDay(day) }, usage));
    return c.json({ resources, offset: offset + resources.length }, 200);
  },
);

/** What names the log of a deployment, as long as anything is left of it. It throws a 404 when nothing is. */
async function requireLog(c: AppContext, deploymentId: string): Promise<Scope> {
  const scope = { workspaceId: c.var.scope.workspaceId, deploymentId };
  if (await hasDeployment(c.env.DB, scope)) return scope;
  throw new ApiError("not_found", `Deployment ${deploymentId} not found`);
}

async function readRevisionLogs(
  c: AppContext,
  deploymentId: string,
  revisionId: string,
  kinds: LogKind[],
  request: LogRequest,
): Promise<LogPageJson> {
  const scope = await requireLog(c, deploymentId);
  if (!(await hasRevision(c.env.DB, { ...scope, revisionId }))) {
    throw new ApiError("not_found", `Revision ${revisionId} not found`);
  }
  return toLogPageJson(
    await logStub(c.env, scope).list(toLogQuery(request, { kinds, revisionId })),
  );
}

function isoDay(day: number): string {
  return new Date(startOfDay(day) / 1000).toISOString().slice(0, 10);
}
