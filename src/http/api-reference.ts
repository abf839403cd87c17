import type { OpenAPIHono } from "@hono/zod-openapi";
import { Scalar } from "@scalar/hono-api-reference";
import type { AppEnv } from "./app-types.ts";
import { type ApiDocument, renderPlainReference } from "./plain-reference.ts";

/**
 * Scalar's own code is too large (4 MB) to be served from here, so its page loads it from the web.
 * Without a way there the page would stay empty: then the plain one is shown.
 */
const FALLBACK = `<script>if (!window.Scalar) location.replace("/docs/plain");</script>`;

/**
 * Strict schemas say of themselves that they take no other members. Those of requests do, and ignore
 * them; answers are described by schemas that are not strict.
 */
export function withoutStrictness(document: object): ApiDocument & object {
  const text = JSON.stringify(document, (key, value: unknown) =>
    key === "additionalProperties" && value === false ? undefined : value,
  );
  return JSON.parse(text);
}

/** `/openapi.json`, and for people `/docs` (Scalar) and `/docs/plain` (one page that loads nothing). */
export function describeApi(app: OpenAPIHono<AppEnv>, describe: () => ApiDocument & object): void {
  const reference = Scalar<AppEnv>({
    url: "/openapi.json",
    pageTitle: "Threadworks API reference",
  });
  app.get("/openapi.json", (c) => c.json(describe()));
  app.get("/docs/plain", (c) => c.html(renderPlainReference(describe())));
  app.get("/docs", async (c, next) => {
    const page = await reference(c, next);
    if (!(page instanceof Response)) throw new Error("Scalar rendered no page");
    return c.html((await page.text()).replace("</body>", `${FALLBACK}</body>`));
  });
}
