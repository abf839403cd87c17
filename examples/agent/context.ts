import { z } from "zod";

const DEFAULT_TOKEN_DELAY_MS = 15;
const MAX_TOKEN_DELAY_MS = 1_000;
const DEFAULT_SYSTEM_PROMPT = "You are a helpful assistant. Use the tools for facts and figures.";

/** The settings that a caller, or an assistant's context, may choose for each run. */
export const ContextSchema = z.object({
  system_prompt: z.string().optional().describe("Instructions put before the conversation"),
  token_delay_ms: z
    .number()
    .int()
    .min(0)
    .max(MAX_TOKEN_DELAY_MS)
    .optional()
    .describe("Pause of the local model before each token"),
});

export type Settings = { system_prompt: string; token_delay_ms: number };

export function readSettings(context: unknown): Settings {
  const given = ContextSchema.parse(context ?? {});
  return {
    system_prompt: given.system_prompt ?? DEFAULT_SYSTEM_PROMPT,
    token_delay_ms: given.token_delay_ms ?? DEFAULT_TOKEN_DELAY_MS,
  };
}
