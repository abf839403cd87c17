import type { FeedbackConfig } from "./feedback-config.ts";

export const FEEDBACK_SOURCES = ["api", "model", "app", "auto_eval"] as const;

type FeedbackSourceType = (typeof FEEDBACK_SOURCES)[number];

/** Feedback to be recorded, checked. Texts named JSON are JSON text, times epoch milliseconds. */
export type FeedbackInput = {
  id: string;
  /** Null: about the project `sessionId` as a whole. */
  runId: string | null;
  traceId: string | null;
  /** The project that the feedback is about; null for feedback about a run, which has its project. */
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
  /** When the run started. */
  startTime: number | null;
  createdAt: number | null;
  modifiedAt: number | null;
};

export type FeedbackRefusal = {
  ok: false;
  id: string;
  /** No such project; an id that is another run's; a score that the key's config does not permit. */
  code: "not_found" | "conflict" | "validation";
  field: string;
  message: string;
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

/** Yes and no are scores as well. */
export function toScore(score: number | boolean | null | undefined): number | null {
  return score == null ? null : Number(score);
}

export function toJson(value: unknown): string | null {
  return value == null ? null : JSON.stringify(value);
}
