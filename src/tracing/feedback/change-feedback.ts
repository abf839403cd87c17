import { selectFeedbackConfigs } from "../../db/feedback-configs-repo.ts";
import {
  deleteFeedbackRow,
  type FeedbackRow,
  selectFeedback,
  updateFeedback,
} from "../../db/feedback-repo.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import { copyFeedback, rowKey, shardOfFeedback } from "./copy-feedback.ts";
import { FIRST_RETRY_MS } from "./copy-schedule.ts";
import {
  configText,
  type FeedbackConfig,
  judgementProblem,
  readConfig,
  toJson,
  toScore,
} from "./feedback-input.ts";
import type { FeedbackDeps } from "./feedback-shards.ts";

/** Maximum attempts at a deletion, which starts over while the feedback is being copied or changed. */
const MAX_DELETION_ATTEMPTS = 5;

export type FeedbackChange = {
  score?: number | boolean | null | undefined;
  value?: unknown;
  comment?: string | null | undefined;
  correction?: unknown;
  feedback_config?: FeedbackConfig | null | undefined;
};

/** Replaces the given fields of feedback, with null as well. Fields that are undefined keep their value. */
export async function changeFeedback(
  deps: FeedbackDeps,
  workspaceId: string,
  id: string,
  change: FeedbackChange,
): Promise<FeedbackRow> {
  const { score, value, comment, correction, feedback_config: config } = change;
  const current = await requireFeedback(deps, workspaceId, id);
  const [row] = await selectFeedbackConfigs(deps.db, workspaceId, [current.key]);
  if (row !== undefined) {
    const judgement = { score: toScore(score), value };
    const problem = judgementProblem(readConfig(row.feedback_config), judgement);
    if (problem !== null)
      throw invalidField(["body", problem.field], problem.message, "value_error");
  }
  const now = deps.now();
  const changed = await updateFeedback(
    deps.db,
    workspaceId,
    id,
    {
      score: score === undefined ? undefined : toScore(score),
      value: value === undefined ? undefined : toJson(value),
      comment,
      correction: correction === undefined ? undefined : toJson(correction),
      feedback_config: config === undefined ? undefined : config && configText(config),
    },
    { now, copyDueAt: now + FIRST_RETRY_MS },
  );
  if (changed === undefined) throw feedbackNotFound();
  const copied = await copyFeedback(deps, [changed]);
  return copied.get(rowKey(changed)) ?? changed;
}

/** Deletes feedback. Its copy goes first: if that fails, the row still exists and can be deleted again. */
export async function removeFeedback(
  deps: FeedbackDeps,
  workspaceId: string,
  id: string,
): Promise<void> {
  for (let attempt = 0; attempt < MAX_DELETION_ATTEMPTS; attempt += 1) {
    const row = await requireFeedback(deps, workspaceId, id);
    const ref = await shardOfFeedback(deps, row);
    if (ref !== null) await deps.shards.remove(ref, [id]);
    if (await deleteFeedbackRow(deps.db, row)) return;
  }
  throw new ApiError("conflict", "Feedback is being changed by other requests");
}

export async function requireFeedback(
  { db }: Pick<FeedbackDeps, "db">,
  workspaceId: string,
  id: string,
): Promise<FeedbackRow> {
  const row = await selectFeedback(db, workspaceId, id);
  if (row === undefined) throw feedbackNotFound();
  return row;
}

function feedbackNotFound(): ApiError {
  return new ApiError("not_found", "Feedback not found");
}
