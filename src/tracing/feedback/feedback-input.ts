import { type NoteUnknown, parseKnown } from "../../http/unknown-members.ts";
import { toValidationDetail } from "../../http/validation-detail.ts";
import type { FeedbackConfig } from "./feedback-config.ts";
import { type FeedbackCreate, feedbackCreateSchema, type FeedbackSourceType } from "./schemas.ts";

/** Feedback to be recorded, checked. Texts named JSON are JSON text, times epoch milliseconds. */
export type FeedbackInput = {
  id: string;
  /** Null: about the project `sessionId` as a whole. */
  runId: string | null;
  traceId: string | null;
  /** Of feedback about a project; that of a run is the run's. */
  sessionId: string | null;
  key: string;
  score: number | null;
  valueJson: string | null;
  comment: string | null;
  correctionJson: string | null;
  sourceType: FeedbackSourceType;
  sourceJson: string;
  config: FeedbackConfig | null;
  groupId: string | null;
  comparativeExperimentId: string | null;
  error: boolean;
  extraJson: string | null;
  extendTraceRetention: boolean;
  /** Of the run. */
  startTime: number | null;
  createdAt: number | null;
  modifiedAt: number | null;
};

/** A body that is no feedback: `field` is a dot path, empty when it is the whole. */
export class FeedbackBodyError extends Error {
  override readonly name = "FeedbackBodyError";
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** Reads a parsed JSON body; without an `id` of its own it gets `defaultId`, or a new one. */
export function parseFeedbackBody(
  value: unknown,
  defaultId?: string,
  onUnknown?: NoteUnknown,
): FeedbackInput {
  const parsed = parseKnown(feedbackCreateSchema, value);
  for (const members of parsed.ignored) onUnknown?.(members);
  if (parsed.success) return toFeedbackInput(parsed.data, defaultId);
  const [first] = toValidationDetail("body", parsed.error.issues, value);
  throw new FeedbackBodyError(
    first?.loc.slice(1).join(".") ?? "",
    first?.msg ?? "Input should be feedback",
  );
}

/** Throws a FeedbackBodyError when it is about nothing. */
export function toFeedbackInput(body: FeedbackCreate, defaultId?: string): FeedbackInput {
  // Feedback on a trace is feedback on its root.
  const runId = body.run_id ?? body.trace_id ?? null;
  if (runId === null && body.session_id == null) {
    throw new FeedbackBodyError("run_id", "Give a run_id, a trace_id or a session_id");
  }
  const { type = "api", metadata, user_id, ls_user_id, user_name } = body.feedback_source ?? {};
  return {
    id: body.id ?? defaultId ?? crypto.randomUUID(),
    runId,
    traceId: body.trace_id ?? null,
    sessionId: runId === null ? (body.session_id ?? null) : null,
    key: body.key,
    score: toScore(body.score),
    valueJson: toJson(body.value),
    comment: body.comment ?? null,
    correctionJson: toJson(body.correction),
    sourceType: type,
    sourceJson: JSON.stringify({
      type,
      metadata: metadata ?? null,
      user_id: user_id ?? null,
      ls_user_id: ls_user_id ?? null,
      user_name: user_name ?? null,
    }),
    config: body.feedback_config ?? body.feedbackConfig ?? null,
    groupId: body.feedback_group_id ?? null,
    comparativeExperimentId: body.comparative_experiment_id ?? null,
    error: body.error ?? false,
    extraJson: toJson(body.extra),
    extendTraceRetention:
      (body.extend_trace_retention ?? true) && body._skip_trace_upgrade !== true,
    startTime: toMillis(body.start_time),
    createdAt: toMillis(body.created_at),
    modifiedAt: toMillis(body.modified_at),
  };
}

/** Yes and no are scores as well. */
export function toScore(score: number | boolean | null | undefined): number | null {
  return score == null ? null : Number(score);
}

export function toJson(value: unknown): string | null {
  return value == null ? null : JSON.stringify(value);
}

function toMillis(micros: number | null | undefined): number | null {
  return micros == null ? null : Math.floor(micros / 1000);
}
