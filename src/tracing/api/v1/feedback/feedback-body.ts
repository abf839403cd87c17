import { type NoteUnknown, parseKnown } from "../../../../lib/unknown-members.ts";
import { toValidationDetail } from "../../../../http/validation-detail.ts";
import { ApiError, invalidField } from "../../../../lib/api-error.ts";
import { optionalMillis } from "../../../../lib/time.ts";
import {
  FeedbackBodyError,
  type FeedbackInput,
  type FeedbackRefusal,
  toJson,
  toScore,
} from "../../../feedback/feedback-input.ts";
import { type FeedbackCreate, feedbackCreateSchema } from "./schemas.ts";

/** Reads feedback from a parsed JSON body. Feedback without an `id` gets `defaultId`, or else a new id. */
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

/** Throws a FeedbackBodyError if the body names no run, trace or project. */
function toFeedbackInput(body: FeedbackCreate, defaultId?: string): FeedbackInput {
  // Feedback on a trace is stored as feedback on its root run.
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
    startTime: optionalMillis(body.start_time),
    createdAt: optionalMillis(body.created_at),
    modifiedAt: optionalMillis(body.modified_at),
  };
}

/** Converts the body of a request with one feedback. Throws a 422 that names the invalid field. */
export function requireInput(body: FeedbackCreate): FeedbackInput {
  try {
    return toFeedbackInput(body);
  } catch (error) {
    if (!(error instanceof FeedbackBodyError)) throw error;
    throw invalidField(["body", error.field], error.message, "missing");
  }
}

/** Returns the error response for a request whose only feedback was refused. */
export function refusalError(
  { code, field, message }: FeedbackRefusal,
  source: "body" | "query" = "body",
): ApiError {
  return code === "validation"
    ? invalidField([source, field], message, "value_error")
    : new ApiError(code, message);
}
