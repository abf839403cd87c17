import { z } from "@hono/zod-openapi";

/** Refuses a value while it is transformed; `type` is that of the error in the answer. */
export function refuseValue(ctx: z.RefinementCtx, message: string, type: string): never {
  ctx.addIssue({ code: "custom", message, params: { type } });
  return z.NEVER;
}
