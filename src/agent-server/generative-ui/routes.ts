import { createRoute, z } from "@hono/zod-openapi";
import { jsonBodyOf } from "../../http/json-body.ts";
import { createRouter } from "../../http/router.ts";
import { ApiError } from "../../lib/api-error.ts";
import { projectOf, requestedScope, uiFilesOf } from "../auth/requested-project.ts";
import { admitWorkspace } from "../../identity/private-connectivity.ts";
import { agentCall } from "../agent-call.ts";
import { isEnabled } from "../custom-routes/disabled-routes.ts";
import { requestedGraphs } from "../graph-host.ts";

/** Routes that the SDK's `LoadExternalComponent` calls for a component that a graph emitted. */
export const uiRoutes = createRouter();

uiRoutes.openapi(
  createRoute({
    method: "post",
    path: "/ui/{name}",
    tags: ["Generative UI"],
    summary: "Get the HTML elements that load a graph's component",
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

// Handles requests that `uiFileRoutes` passed on: the path matches its route, so nothing else would answer 404.
uiRoutes.get("/ui/:name/:file", () => {
  throw new ApiError("not_found", "Not Found");
});

/** Hosts that are reached without TLS: pages with any scheme may load scripts from them. */
const LOCAL = new Set(["localhost", "127.0.0.1"]);

/**
 * Returns the elements that load a component's files, as the reference server writes them: the SDK replaces
 * `{{shadowRootId}}`, and the script calls what the bundle defined under the name of its `ui` entry. `address` is
 * the address of this request, below which the files are served; a proxy may have terminated TLS.
 */
function componentHtml(
  { host, hostname, pathname }: URL,
  files: readonly string[],
  { name, component }: { name: string; component: string },
): string {
  const origin = `${LOCAL.has(hostname) ? "http:" : ""}//${host}`;
  const urlOf = (file: string): string =>
    escapeHtml(`${origin}${pathname}/${encodeURIComponent(file)}`);
  const styles = files
    .filter((file) => file.endsWith(".css"))
    .map((file) => `<link rel="stylesheet" href="${urlOf(file)}" />`);
  const bundle = `__LGUI_${name.replace(/[^a-zA-Z0-9]/g, "_")}`;
  const render = escapeHtml(`${bundle}.render(${JSON.stringify(component)}, "{{shadowRootId}}")`);
  const scripts = files
    .filter((file) => file.endsWith(".js"))
    .slice(0, 1)
    .map((file) => `<script src="${urlOf(file)}" onload='${render}'></script>`);
  return [...styles, ...scripts].join("\n");
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("'", "&#39;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/**
 * Routes of the scripts and style sheets of a project's components. Pages load them by elements, which send no
 * key.
 */
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
    // A caller without a key must not learn whether the file or the deployment exists, so authentication comes next.
    if (!isThere) {
      await next();
      return c.res;
    }
    await admitWorkspace(c, requestedScope(c).workspaceId);
    const found = await requestedGraphs(agentCall(c)).uiFile({ name, file });
    if (typeof found !== "string") throw new ApiError("not_found", "Not Found");
    // The next revision serves its files under the same names.
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
