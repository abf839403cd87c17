import { and, eq, inArray, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { runShares } from "../../db/tracing-schema.ts";
import type { AppContext } from "../../http/app-types.ts";
import { attachmentUrl } from "../attachments/attachment-url.ts";
import type { PlacedRun } from "../query/run-source.ts";
import { appPath } from "../runs/run-json.ts";
import type { JsonPart } from "./json-object.ts";
import type { RunField } from "./run-fields.ts";
import { runResponse } from "./run-response.ts";

/** The answers of some runs, each in pieces; what they share is looked up once. */
export async function runResponses(
  c: AppContext,
  workspaceId: string,
  runs: readonly PlacedRun[],
  fields: Iterable<RunField>,
): Promise<JsonPart[][]> {
  const selected = new Set(fields);
  const tokens = selected.has("SHARE_URL")
    ? await findShareTokens(c.env.DB, workspaceId, runs)
    : new Map<string, string>();
  return Promise.all(
    runs.map((placed) =>
      runResponse(placed, selected, {
        appPath: () => appPath(placed),
        attachmentUrl: (attachment) => attachmentUrl(c, attachment),
        shareUrl: () => {
          const token = tokens.get(placed.run.id) ?? tokens.get(placed.run.trace_id);
          return token === undefined ? undefined : new URL(`/public/${token}/r`, c.req.url).href;
        },
      }),
    ),
  );
}

/** Tokens by run id, of the runs and of their traces' roots: who shares a root shares all of it. */
async function findShareTokens(
  db: D1Database,
  workspaceId: string,
  runs: readonly PlacedRun[],
): Promise<Map<string, string>> {
  const ids = new Set(runs.flatMap(({ run }) => [run.id, run.trace_id]));
  const rows = await drizzle(db)
    .select({ run_id: runShares.run_id, token: runShares.token })
    .from(runShares)
    .where(
      and(
        eq(runShares.workspace_id, workspaceId),
        inArray(runShares.run_id, sql`(SELECT value FROM json_each(${JSON.stringify([...ids])}))`),
      ),
    );
  return new Map(rows.map(({ run_id, token }) => [run_id, token]));
}
