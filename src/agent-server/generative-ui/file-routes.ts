import { createRoute, z } from "@hono/zod-openapi";
import { createRouter } from "../../http/router.ts";
import { admitWorkspace } from "../../identity/private-connectivity.ts";
import { ApiError } from "../../lib/api-error.ts";
import { agentCall } from "../agent-call.ts";
import { projectOf, requestedScope, uiFilesOf } from "../auth/requested-project.ts";
import { isEnabled } from "../custom-routes/disabled-routes.ts";
import { requestedGraphs } from "../graph-host.ts";

/** The scripts and style sheets of a project's components. Pages load them by elements, which send no key. */
export const uiFileRoutes = createRouter();

uiFileRoutes.openapi(
  createRoute({
    method: "get",
    path: "/ui/{name}/{file}",
    tags: ["Generative UI"],
    summary: "A script or style sheet of a graph's components",
    security: [],
    request: { params: z.object({ name: z.string(), file: z.string() }) },
    responses: {
      200: {
        description: "The file",
        content: {
          "text/javascript": { schema: z.string() },
          "text/css": { schema: z.string() },
        },
      },
    },
  }),
  async (c, next): Promise<Response> => {
    const project = projectOf(c);
    const { name, file } = c.req.valid("param");
    const isThere = isEnabled(project, "ui") && uiFilesOf(project, name).includes(file);
    // Who has no key learns nothing of what is not there, nor whether there is such a deployment.
    if (!isThere) {
      await next();
      return c.res;
    }
    await admitWorkspace(c, requestedScope(c).workspaceId);
    const found = await requestedGraphs(agentCall(c)).uiFile({ name, file });
    if (typeof found !== "string") throw new ApiError("not_found", "Not Found");
    // The next revision has its files under the same names.
    c.header("cache-control", "no-cache");
    c.header("content-type", contentTypeOf(file));
    c.header("x-content-type-options", "nosniff");
    c.header("content-security-policy", "sandbox");
    return c.body(found);
  },
);

function contentTypeOf(file: string): string {
  return `text/${file.endsWith(".css") ? "css" : "javascript"}; charset=utf-8`;
}
