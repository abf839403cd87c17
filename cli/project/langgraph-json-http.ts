import { z } from "zod";

export const httpSchema = z.looseObject({
  disable_mcp: z.boolean().optional(),
  disable_a2a: z.boolean().optional(),
  disable_webhooks: z.boolean().optional(),
});

type HttpConfig = z.infer<typeof httpSchema> | null | undefined;

/** Which protocols the project does not want to be served. */
export type HttpSource = { disable_mcp: boolean; disable_a2a: boolean };

export function readHttp(config: HttpConfig): HttpSource {
  return {
    disable_mcp: config?.disable_mcp ?? false,
    disable_a2a: config?.disable_a2a ?? false,
  };
}

/** The members of `http` that are known elsewhere and do nothing here. */
export function httpWarnings(config: HttpConfig): string[] {
  const {
    disable_mcp: _mcp,
    disable_a2a: _a2a,
    disable_webhooks: _webhooks,
    ...rest
  } = config ?? {};
  return Object.keys(rest).map((key) => `"http.${key}" has no effect`);
}
