import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../http/app-types.ts";
import { uuidParam } from "../../http/path-params.ts";
import { createRouter } from "../../http/router.ts";
import { readAccount, readRepositories } from "../builds/git-host.ts";
import { integrationOf, requireIntegration } from "./github-integration.ts";

/** Routes for the repositories that the installation's own account at the Git host may read. */
export const integrationRoutes = createRouter();

const tags = ["Deployments"];

integrationRoutes.openapi(
  createRoute({
    method: "get",
    path: "/integrations/github/install",
    tags,
    summary:
      "List the integrations: one, or none where the installation has none for the workspace",
    responses: {
      200: {
        description: "The integrations",
        content: {
          "application/json": {
            schema: z.array(
              z
                .object({ id: z.string(), installation_id: z.number().int(), name: z.string() })
                .openapi("GithubIntegration"),
            ),
          },
        },
      },
    },
  }),
  async (c) => {
    const found = integrationOf(c.var.settings, workspaceOf(c));
    if (found === null) return c.json([], 200);
    const account = await readAccount(found.host);
    return c.json([{ id: found.id, installation_id: account.id, name: account.login }], 200);
  },
);

integrationRoutes.openapi(
  createRoute({
    method: "get",
    path: "/integrations/github/{integration_id}/repos",
    tags,
    summary: "List the repositories that an integration may read, by their names",
    request: { params: z.object({ integration_id: uuidParam() }) },
    responses: {
      200: {
        description: "The repositories; the first thousand of them",
        content: {
          "application/json": {
            schema: z.array(
              z
                .object({
                  host_integration_id: z.string(),
                  id: z.number().int(),
                  name: z.string(),
                  owner: z.string(),
                  /** The value for `source_config.repo_url`. */
                  url: z.string(),
                  default_branch: z.string(),
                })
                .openapi("GithubRepository"),
            ),
          },
        },
      },
    },
  }),
  async (c) => {
    const { settings } = c.var;
    const { integration_id: id } = c.req.valid("param");
    const { host } = requireIntegration(settings, workspaceOf(c), id);
    const found = await readRepositories(host);
    return c.json(
      found.map((repository) => ({
        host_integration_id: id,
        id: repository.id,
        name: repository.name,
        owner: repository.owner.login,
        url: `${settings.githubUrl}/${repository.owner.login}/${repository.name}`,
        default_branch: repository.default_branch,
      })),
      200,
    );
  },
);

function workspaceOf(c: AppContext): string {
  return c.var.scope.workspaceId;
}
