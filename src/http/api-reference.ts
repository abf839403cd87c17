import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "./app-types.ts";
import { SCRIPT, STYLE } from "./reference/html.ts";
import { type ApiDocument, renderReference } from "./reference/reference-page.ts";

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

/** `/openapi.json`, and for people `/docs`: one page that loads nothing, so that it needs no other host. */
export function describeApi(app: OpenAPIHono<AppEnv>, describe: () => ApiDocument & object): void {
  let policy: Promise<string> | null = null;
  app.get("/openapi.json", (c) => c.json(describe()));
  // Where the page was before there was one only. Relative: a deployment may be below a path.
  app.get("/docs/plain", (c) => c.redirect("../docs"));
  app.get("/docs", async (c) => {
    c.header("content-security-policy", await (policy ??= contentSecurityPolicy()));
    c.header("x-content-type-options", "nosniff");
    return c.html(renderReference(describe()));
  });
}

/** The page's own style and script, by their digests, and nothing else. */
async function contentSecurityPolicy(): Promise<string> {
  return [
    "default-src 'none'",
    `style-src '${await digestOf(STYLE)}'`,
    `script-src '${await digestOf(SCRIPT)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256-${Buffer.from(digest).toString("base64")}`;
}
