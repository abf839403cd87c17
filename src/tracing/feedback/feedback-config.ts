/** What scores and values of a feedback key mean. */
export type FeedbackConfig = {
  type: "continuous" | "categorical" | "freeform";
  min?: number | null | undefined;
  max?: number | null | undefined;
  categories?: { value: number; label?: string | null | undefined }[] | null | undefined;
};

export type Judgement = { score?: number | null | undefined; value?: unknown };

/** The JSON text that is stored; equal configs have equal texts. */
export function configText({ type, min, max, categories }: FeedbackConfig): string {
  return JSON.stringify({
    type,
    min: min ?? null,
    max: max ?? null,
    categories: categories?.map(({ value, label }) => ({ value, label: label ?? null })) ?? null,
  });
}

/** Reads the text that is stored. */
export function readConfig(text: string): FeedbackConfig {
  return JSON.parse(text) as FeedbackConfig;
}

/**
 * What the config of the key does not permit: a score out of bounds, or one of no category; without
 * a score, a value that is neither a category's label nor its number. Null when there is nothing.
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
