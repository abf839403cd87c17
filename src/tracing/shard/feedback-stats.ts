/** The statistics of a run's feedback with one key. */
export type FeedbackStat = {
  /** Number of rows with a score or a label; if no row has either, of the rows that are not errors. */
  n: number;
  avg: number | null;
  min: number | null;
  max: number | null;
  /** The sample's standard deviation; null below two scores. */
  stdev: number | null;
  /** How often each label (a value that is a string) was given. */
  values: Record<string, number>;
  errors: number;
  /** Some of the comments; long ones are shortened. */
  comments: string[];
  sources: string[];
  contains_thread_feedback: boolean;
};

export const MAX_COMMENTS = 10;
const MAX_COMMENT_CHARS = 500;
const MAX_LABELS = 100;
export const MAX_LABEL_CHARS = 250;

/** Returns statistics by key, in the order in which the keys first appear. Errors count only as errors. */
export function feedbackStats(rows: readonly ShardFeedback[]): Record<string, FeedbackStat> {
  const byKey = new Map<string, ShardFeedback[]>();
  for (const row of rows) {
    const others = byKey.get(row.key);
    if (others === undefined) byKey.set(row.key, [row]);
    else others.push(row);
  }
  return Object.fromEntries([...byKey].map(([key, rows]) => [key, statOf(rows)]));
}

function statOf(rows: readonly ShardFeedback[]): FeedbackStat {
  const judged = rows.filter(({ error }) => !error);
  const scores = judged.flatMap(({ score }) => score ?? []);
  const labels = judged.map(labelOf);
  const counted = judged.filter(({ score }, index) => score !== null || labels[index] !== null);
  const { avg, stdev } = spreadOf(scores);
  return {
    n: counted.length === 0 ? judged.length : counted.length,
    avg,
    min: scores.length === 0 ? null : scores.reduce((left, right) => Math.min(left, right)),
    max: scores.length === 0 ? null : scores.reduce((left, right) => Math.max(left, right)),
    stdev,
    values: countLabels(labels.flatMap((label) => label ?? [])),
    errors: rows.length - judged.length,
    comments: rows
      .flatMap(({ comment }) => (comment ? [comment.slice(0, MAX_COMMENT_CHARS)] : []))
      .slice(0, MAX_COMMENTS),
    sources: [...new Set(rows.map(({ source }) => source))],
    contains_thread_feedback: false,
  };
}

function spreadOf(scores: readonly number[]): { avg: number | null; stdev: number | null } {
  const n = scores.length;
  if (n === 0) return { avg: null, stdev: null };
  const avg = scores.reduce((sum, score) => sum + score, 0) / n;
  if (n === 1) return { avg, stdev: null };
  const squares = scores.reduce((sum, score) => sum + (score - avg) ** 2, 0);
  return { avg, stdev: Math.sqrt(squares / (n - 1)) };
}

function labelOf({ value }: ShardFeedback): string | null {
  if (value === null || !value.startsWith('"')) return null;
  return (JSON.parse(value) as string).slice(0, MAX_LABEL_CHARS);
}

function countLabels(labels: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const label of labels) {
    const count = counts.get(label) ?? 0;
    if (count > 0 || counts.size < MAX_LABELS) counts.set(label, count + 1);
  }
  return Object.fromEntries(counts);
}

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
  /** Whether it moves the run's trace to the long retention. */
  extendRetention: boolean;
  /** Epoch milliseconds. */
  createdAt: number;
};
