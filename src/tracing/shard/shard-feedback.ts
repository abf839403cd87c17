/** The copy of a feedback that a shard keeps beside the run, for filters and `feedback_stats`. */
export type ShardFeedback = {
  id: string;
  runId: string;
  key: string;
  score: number | null;
  /** JSON text. */
  value: string | null;
  comment: string | null;
  /** "api", "model", "app" or "auto_eval". */
  source: string;
  error: boolean;
  /** Whether the run's trace is to be kept for the long time because of it. */
  extendRetention: boolean;
  /** Epoch milliseconds. */
  createdAt: number;
};
