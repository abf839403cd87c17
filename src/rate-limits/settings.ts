import { z } from "zod";
import { type Limit, LIMIT_ROWS } from "./policy.ts";
import { isFirstOf, table } from "../lib/settings.ts";

/** Limits of individual workspaces, by the workspace's id and the limit's name. */
export type LimitOverrides = ReadonlyMap<string, ReadonlyMap<string, Limit>>;

const limitSchema = z.strictObject({
  count: z.int().positive(),
  seconds: z.int().positive().max(86_400),
});

const MULTIPART = "runs-multipart";
const MULTIPART_LIMIT = limitNamed(MULTIPART);

/** Limits counted by API key. Only these requests reveal their workspace before authentication. */
const OVERRIDABLE = LIMIT_ROWS.filter(({ by }) => by === "api-key");

/** The schema of RATE_LIMIT_OVERRIDES: limits by the workspace's id and the limit's name. */
const limitOverridesSchema = z
  .record(
    z.guid(),
    z.strictObject(
      Object.fromEntries(OVERRIDABLE.map(({ name }) => [name, limitSchema.optional()])),
    ),
  )
  .superRefine((overrides, ctx) => {
    for (const [workspaceId, limits] of Object.entries(overrides)) {
      const multipart = limits[MULTIPART];
      if (multipart === undefined || !isLowerMultipart(multipart)) continue;
      const { count, seconds } = MULTIPART_LIMIT;
      ctx.addIssue({
        code: "custom",
        path: [workspaceId, MULTIPART],
        message: `It may only be raised, above ${count} requests in ${seconds} seconds`,
      });
    }
  })
  .transform((overrides): LimitOverrides => {
    const workspaces = Object.entries(overrides).map(
      ([workspaceId, limits]) => [workspaceId.toLowerCase(), givenLimits(limits)] as const,
    );
    return new Map(workspaces);
  });

function givenLimits(limits: Record<string, Limit | undefined>): ReadonlyMap<string, Limit> {
  const given = Object.entries(limits).filter(
    (entry): entry is [string, Limit] => entry[1] !== undefined,
  );
  return new Map(given);
}

/**
 * The multipart limit cannot be lowered, because the Python client drops the traces of a refused multipart
 * request.
 */
function isLowerMultipart({ count, seconds }: Limit): boolean {
  return count < MULTIPART_LIMIT.count * Math.ceil(seconds / MULTIPART_LIMIT.seconds);
}

function limitNamed(name: string): Limit {
  const row = LIMIT_ROWS.find((each) => each.name === name);
  if (row === undefined) throw new Error(`There is no limit named ${name}`);
  return row.us;
}

export const rateLimitSettings = z
  .object({
    RATE_LIMITS: isFirstOf(["on", "off"], true),
    RATE_LIMIT_OVERRIDES: table(limitOverridesSchema),
  })
  .transform((vars) => ({
    /** Whether requests to the platform API are limited. */
    rateLimits: vars.RATE_LIMITS,
    rateLimitOverrides: vars.RATE_LIMIT_OVERRIDES,
  }));
