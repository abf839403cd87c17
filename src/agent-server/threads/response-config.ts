import type { RouteConfig } from "@hono/zod-openapi";

/**
 * A documented response whose handler writes the body itself (a stream, or JSON text made elsewhere).
 * Annotating it with this type keeps the document and frees the handler from the inferred body type.
 */
export type ResponseConfig = RouteConfig["responses"][string];
