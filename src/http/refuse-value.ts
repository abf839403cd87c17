import { z } from "@hono/zod-openapi";

/** Refuses a value in a transform; `type` is the type of the error in the response. */
export function refuseValue(ctx: z.RefinementCtx, message: string, type: string): never {
  ctx.addIssue({ code: "custom", message, params: { type } });
  return z.NEVER;
}
