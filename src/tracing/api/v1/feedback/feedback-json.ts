import { feedbackLink } from "../../../feedback/feedback-token.ts";
import { toIso } from "../../../../lib/time.ts";
import type { FeedbackRow } from "../../../../db/feedback-repo.ts";
import type { FeedbackTokenRow } from "../../../../db/feedback-tokens-repo.ts";

type Source = {
  type: string;
  metadata: Record<string, unknown> | null;
  user_id: string | null;
  ls_user_id: string | null;
  user_name: string | null;
};

/** Feedback as the API shows it. */
export function toFeedbackJson(row: FeedbackRow) {
  return {
    id: row.id,
    created_at: toIso(row.created_at),
    modified_at: toIso(row.modified_at),
    key: row.key,
    score: row.score,
    value: fromJson(row.value),
    comment: row.comment,
    correction: fromJson(row.correction),
    feedback_group_id: row.feedback_group_id,
    comparative_experiment_id: row.comparative_experiment_id,
    run_id: row.run_id,
    session_id: row.session_id,
    trace_id: row.trace_id,
    start_time: row.start_time === null ? null : toIso(row.start_time),
    is_root: row.run_id !== null && row.run_id === row.trace_id,
    feedback_source: JSON.parse(row.feedback_source) as Source,
    extra: fromJson(row.extra) as Record<string, unknown> | null,
    feedback_thread_id: null,
  };
}

/** A link by which feedback can be given; `url` is any of the host that it leads to. */
export function toFeedbackTokenJson(row: FeedbackTokenRow, url: string) {
  return {
    id: row.id,
    url: feedbackLink(row.id, url),
    expires_at: toIso(row.expires_at),
    feedback_key: row.feedback_key,
  };
}

function fromJson(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
