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

/** Lines that a rollout wrote before the revision's code ran. */
const BUILD: LogKind[] = ["build"];
/** Lines written by starting the revision and, from then on, by its code. */
const RUNTIME: LogKind[] = ["deploy", "server"];

const tags = ["Deployment logs"];

const body = { required: true, content: { "application/json": { schema: logQuerySchema } } };

const answer = {
  200: {
    description: "A page of the log",
    content: { "application/json": { schema: logPageSchema } },
  },
};

/** Makes the routes of deployment logs. `deployments` is the path of deployments in this version of the API. */
export function logRoutes(deployments: string): OpenAPIHono<AppEnv> {
  const routes = createRouter();
  const deployment = `${deployments}/{deployment_id}`;
  const revision = `${deployment}/revisions/{revision_id}`;

  routes.openapi(
    createRoute({
      method: "post",
      path: `${revision}/build_logs`,
      tags,
      summary: "Read the build log of a revision",
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
      summary: "Read the log of a revision's start and of its code",
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
      summary: "Read the log of the starts and the code of all revisions of a deployment",
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
    summary: "List the network and store usage of a deployment's code by day, newest first",
    request: { params: deploymentParams, query: usageQuery },
    responses: {
      200: {
        description: "The days with any usage",
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

/** Returns the scope of a deployment's log until the deployment is purged. Throws a 404 when there is none. */
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
