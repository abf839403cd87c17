import { findShareOfRun } from "../../../../db/run-shares-repo.ts";
import type { AppContext } from "../../../../http/app-types.ts";
import { objectUrl } from "../../../attachments/attachment-url.ts";
import { linkSettings } from "../../links.ts";
import { findRuns } from "../../../query/find-runs.ts";
import type { RunPosition } from "../../../model/run-page.ts";
import type { RunJsonContext, TraceFacts } from "./run-json.ts";

const TRACE_PAGE = 1000;

export function runJsonContext(c: AppContext, workspaceId: string): RunJsonContext {
  const { settings } = c.var;
  const links = linkSettings(c);
  const traces = new Map<string, Promise<TraceFacts>>();
  return {
    objectUrl: (object, mimeType) => objectUrl(links, { object, mimeType }),
    ttlSeconds: (tier) =>
      (tier === "longlived" ? settings.longlivedTraceMs : settings.shortlivedTraceMs) / 1000,
    shareToken: async (runId) =>
      (await findShareOfRun(c.env.DB, workspaceId, runId))?.token ?? null,
    traceFacts: (traceId) => {
      let facts = traces.get(traceId);
      if (facts === undefined) {
        facts = readTrace(c.env, workspaceId, traceId);
        traces.set(traceId, facts);
      }
      return facts;
    },
  };
}

async function readTrace(env: Env, workspaceId: string, traceId: string): Promise<TraceFacts> {
  const facts: TraceFacts = { minStart: Infinity, maxStart: -Infinity, runs: [] };
  let after: RunPosition | null = null;
  do {
    const page = await findRuns(env, {
      workspaceId,
      selection: { traceId },
      order: "asc",
      after,
      limit: TRACE_PAGE,
      payloads: [],
    });
    for (const { run } of page.runs) {
      facts.minStart = Math.min(facts.minStart, run.start_time);
      facts.maxStart = Math.max(facts.maxStart, run.start_time);
      facts.runs.push({
        id: run.id,
        parentRunId: run.parent_run_id,
        dottedOrder: run.dotted_order,
      });
    }
    after = page.next;
  } while (after !== null);
  return facts;
}
