import { z } from "@hono/zod-openapi";

/** A filter that has no meaning where nothing is remote. */
export function remoteReconciled() {
  const message = "There is no remote data plane here that anything could be reconciled with";
  return z
    .unknown()
    .refine((value) => value === undefined, { message, params: { type: "value_error" } })
    .optional()
    .openapi({ type: "boolean", description: message });
}
