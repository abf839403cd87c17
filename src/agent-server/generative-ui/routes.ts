import { createRoute, z } from "@hono/zod-openapi";
import { jsonBodyOf } from "../../http/json-body.ts";
import { createRouter } from "../../http/router.ts";
import { ApiError } from "../../lib/api-error.ts";
import { projectOf, uiFilesOf } from "../auth/requested-project.ts";
import { componentHtml } from "./component-html.ts";

/** What the SDK's `LoadExternalComponent` asks for a component that a graph showed. */
export const uiRoutes = createRouter();

uiRoutes.openapi(
  createRoute({
    method: "post",
    path: "/ui/{name}",
    tags: ["Generative UI"],
    summary: "The elements by which a page loads a graph's component",
    request: {
      params: z.object({ name: z.string() }),
      body: jsonBodyOf(z.strictObject({ name: z.string().min(1).max(256) })),
    },
    responses: {
      200: { description: "HTML", content: { "text/html": { schema: z.string() } } },
    },
  }),
  (c) => {
    const { name } = c.req.valid("param");
    const files = uiFilesOf(projectOf(c), name);
    if (files.length === 0) throw new ApiError("not_found", `UI not found for agent "${name}"`);
    c.header("content-security-policy", "sandbox");
    return c.html(
      componentHtml(new URL(c.req.url), files, { name, component: c.req.valid("json").name }),
    );
  },
);

// What `uiFileRoutes` has left: its route is there, so that nothing else would say 404.
uiRoutes.get("/ui/:name/:file", () => {
  throw new ApiError("not_found", "Not Found");
});
