export const FEEDBACK_SOURCES = ["api", "model", "app", "auto_eval"] as const;

type FeedbackSourceType = (typeof FEEDBACK_SOURCES)[number];

/** Checked feedback that is to be recorded. Members named JSON are JSON text, times are epoch milliseconds. */
export type FeedbackInput = {
  id: string;
  /** Null for feedback about the project `sessionId` as a whole. */
  runId: string | null;
  traceId: string | null;
  /** The project that the feedback is about. Null for feedback about a run, whose project is known. */
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
  /** Start time of the run. */
  startTime: number | null;
  createdAt: number | null;
  modifiedAt: number | null;
};

export type FeedbackRefusal = {
  ok: false;
  id: string;
  /** The project does not exist; the id is another run's feedback; or the key's config does not permit the score. */
  code: "not_found" | "conflict" | "validation";
  field: string;
  message: string;
};

/** The error of a body that is not valid feedback; `field` is a dot path, empty for the body as a whole. */
export class FeedbackBodyError extends Error {
  override readonly name = "FeedbackBodyError";
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** Converts a score to a number; booleans are scores as well. */
export function toScore(score: number | boolean | null | undefined): number | null {
  return score == null ? null : Number(score);
}

export function toJson(value: unknown): string | null {
  return value == null ? null : JSON.stringify(value);
}

/** The meaning of the scores and values of a feedback key. */
export type FeedbackConfig = {
  type: "continuous" | "categorical" | "freeform";
  min?: number | null | undefined;
  max?: number | null | undefined;
  categories?: { value: number; label?: string | null | undefined }[] | null | undefined;
};

export type Judgement = { score?: number | null | undefined; value?: unknown };

/** Returns the JSON text that is stored; equal configs have equal texts. */
export function configText({ type, min, max, categories }: FeedbackConfig): string {
  return JSON.stringify({
    type,
    min: min ?? null,
    max: max ?? null,
    categories: categories?.map(({ value, label }) => ({ value, label: label ?? null })) ?? null,
  });
}

/** Parses the stored text. */
export function readConfig(text: string): FeedbackConfig {
  return JSON.parse(text) as FeedbackConfig;
}

/**
 * Returns what the config of the key does not permit: a score that is out of bounds or of no category or,
 * without a score, a value that is neither a category's label nor its number. Null if all is permitted.
 */
export function judgementProblem(
  config: FeedbackConfig,
  { score, value }: Judgement,
): { field: "score" | "value"; message: string } | null {
  if (config.type === "continuous") {
    const { min, max } = config;
    if (score == null) return null;
    if (min != null && score < min)
      return { field: "score", message: `Score should be at least ${min}` };
    if (max != null && score > max)
      return { field: "score", message: `Score should be at most ${max}` };
    return null;
  }
  const { categories } = config;
  if (config.type === "freeform" || !categories || categories.length === 0) return null;
  const values = categories.map((category) => category.value);
  if (score != null) {
    if (values.includes(score)) return null;
    return { field: "score", message: `Score should be one of ${values.join(", ")}` };
  }
  if (value == null || typeof value === "object") return null;
  const labels = categories.flatMap(({ label }) => label ?? []);
  if (typeof value === "string" ? labels.includes(value) : values.includes(Number(value))) {
    return null;
  }
  const names = labels.map((label) => JSON.stringify(label)).join(", ");
  return { field: "value", message: `Value should be one of ${names}` };
}
