import { insertFeedbackConfig, selectFeedbackConfigs } from "../../db/feedback-configs-repo.ts";
import { type FeedbackRow, type NewFeedback, upsertFeedback } from "../../db/feedback-repo.ts";
import { findProject } from "../projects/project-cache.ts";
import { copyFeedback, rowKey } from "./copy-feedback.ts";
import { FIRST_RETRY_MS } from "./copy-schedule.ts";
import {
  configText,
  type FeedbackConfig,
  type FeedbackInput,
  type FeedbackRefusal,
  judgementProblem,
  readConfig,
} from "./feedback-input.ts";
import type { FeedbackDeps } from "./feedback-shards.ts";

export type FeedbackOutcome = { ok: true; row: FeedbackRow } | FeedbackRefusal;

/**
 * Stores feedback, replacing any with the same id, and copies it to the shard of its run: now if the run
 * is known, otherwise when the run arrives. A refused item does not prevent the others from being stored.
 */
export async function recordFeedback(
  deps: FeedbackDeps,
  workspaceId: string,
  inputs: readonly FeedbackInput[],
): Promise<FeedbackOutcome[]> {
  const configs = await storedConfigs(deps, workspaceId, inputs);
  const refusals = await Promise.all(
    inputs.map(async (input) => {
      const problem = await problemOf(
        deps,
        workspaceId,
        input,
        configs.get(input.key) ?? input.config,
      );
      return problem === null ? null : ({ ok: false, id: input.id, ...problem } as const);
    }),
  );
  const accepted = inputs.filter((_, index) => refusals[index] === null);
  const now = deps.now();
  await storeNewConfigs(deps, workspaceId, accepted, configs);
  const stored = await upsertFeedback(
    deps.db,
    accepted.map((input) => toRow(workspaceId, input, now)),
  );
  // If an id occurs twice, the last one counts.
  const latest = new Map<string, FeedbackRow>();
  for (const row of stored) if (row !== undefined) latest.set(rowKey(row), row);
  const copied = await copyFeedback(deps, [...latest.values()]);
  const rows = stored.values();
  return inputs.map(({ id }, index): FeedbackOutcome => {
    const refusal = refusals[index];
    if (refusal) return refusal;
    const row = rows.next().value;
    if (row === undefined) {
      const message = `There is feedback with the id ${id} about another run`;
      return { ok: false, id, code: "conflict", field: "id", message };
    }
    const key = rowKey(row);
    return { ok: true, row: copied.get(key) ?? latest.get(key) ?? row };
  });
}

async function storedConfigs(
  { db }: FeedbackDeps,
  workspaceId: string,
  inputs: readonly FeedbackInput[],
): Promise<ReadonlyMap<string, FeedbackConfig>> {
  const keys = [...new Set(inputs.map(({ key }) => key))];
  if (keys.length === 0) return new Map();
  const rows = await selectFeedbackConfigs(db, workspaceId, keys);
  return new Map(rows.map((row) => [row.feedback_key, readConfig(row.feedback_config)] as const));
}

/** Stores the config of the first feedback that brings one for a key without a config. */
async function storeNewConfigs(
  { db, now }: FeedbackDeps,
  workspaceId: string,
  inputs: readonly FeedbackInput[],
  stored: ReadonlyMap<string, FeedbackConfig>,
): Promise<void> {
  const first = new Map<string, FeedbackConfig>();
  for (const { key, config } of inputs) {
    if (config !== null && !stored.has(key) && !first.has(key)) first.set(key, config);
  }
  for (const [key, config] of first) {
    await insertFeedbackConfig(db, {
      workspace_id: workspaceId,
      feedback_key: key,
      feedback_config: configText(config),
      is_lower_score_better: null,
      created_at: now(),
      modified_at: now(),
    });
  }
}

async function problemOf(
  { db }: FeedbackDeps,
  workspaceId: string,
  { sessionId, score, valueJson }: FeedbackInput,
  config: FeedbackConfig | null,
): Promise<Pick<FeedbackRefusal, "code" | "field" | "message"> | null> {
  if (sessionId !== null && (await findProject(db, workspaceId, sessionId)) === null) {
    return { code: "not_found", field: "session_id", message: "Project not found" };
  }
  if (config === null) return null;
  const value: unknown = valueJson === null ? null : JSON.parse(valueJson);
  const problem = judgementProblem(config, { score, value });
  return problem === null ? null : { code: "validation", ...problem };
}

function toRow(workspaceId: string, input: FeedbackInput, now: number): NewFeedback {
  const isOfRun = input.runId !== null;
  return {
    id: input.id,
    workspace_id: workspaceId,
    run_id: input.runId,
    trace_id: input.traceId,
    session_id: input.sessionId,
    key: input.key,
    score: input.score,
    value: input.valueJson,
    comment: input.comment,
    correction: input.correctionJson,
    source_type: input.sourceType,
    feedback_source: input.sourceJson,
    feedback_config: input.config === null ? null : configText(input.config),
    feedback_group_id: input.groupId,
    comparative_experiment_id: input.comparativeExperimentId,
    error: input.error,
    extra: input.extraJson,
    extend_trace_retention: input.extendTraceRetention,
    start_time: input.startTime,
    created_at: input.createdAt ?? now,
    creationGiven: input.createdAt !== null,
    modified_at: input.modifiedAt ?? now,
    copy_due_at: isOfRun ? now + FIRST_RETRY_MS : null,
    copy_wanted_at: isOfRun ? now : null,
  };
}
