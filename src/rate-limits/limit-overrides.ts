import { z } from "zod";
import { type Limit, LIMIT_ROWS } from "./policy.ts";

/** Limits of single workspaces, by the workspace's id and the limit's name. */
export type LimitOverrides = ReadonlyMap<string, ReadonlyMap<string, Limit>>;

const limitSchema = z.strictObject({
  count: z.int().positive(),
  seconds: z.int().positive().max(86_400),
});

/** Those counted by API key: no other request tells its workspace before it is authenticated. */
const OVERRIDABLE = LIMIT_ROWS.filter(({ by }) => by === "api-key");

const overridesSchema = z.record(
  z.guid(),
  z.strictObject(Object.fromEntries(OVERRIDABLE.map(({ name }) => [name, limitSchema.optional()]))),
);

/** Reads the variable RATE_LIMIT_OVERRIDES; throws an error that names it and the entry. */
export function parseLimitOverrides(value: unknown): LimitOverrides {
  const given = typeof value === "string" && value !== "" ? parseJson(value) : (value ?? {});
  const result = overridesSchema.safeParse(given === "" ? {} : given);
  if (!result.success) throw invalid(z.prettifyError(result.error));
  return new Map(
    Object.entries(result.data).map(([workspaceId, limits]) => {
      const byName = new Map<string, Limit>();
      for (const [name, limit] of Object.entries(limits)) {
        if (limit === undefined) continue;
        refuseLowerMultipart(workspaceId, name, limit);
        byName.set(name, limit);
      }
      return [workspaceId.toLowerCase(), byName];
    }),
  );
}

/** Python's client drops the traces of a multipart request that is refused. */
function refuseLowerMultipart(workspaceId: string, name: string, limit: Limit): void {
  const row = OVERRIDABLE.find((each) => each.name === name);
  if (row === undefined || name !== "runs-multipart") return;
  const { count, seconds } = row.us;
  if (limit.count >= count * Math.ceil(limit.seconds / seconds)) return;
  throw invalid(
    `${workspaceId}.${name} may only be raised, above ${count} requests in ${seconds} seconds`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("it is no JSON object");
  }
}

function invalid(reason: string): Error {
  return new Error(`RATE_LIMIT_OVERRIDES is not valid: ${reason}`);
}
