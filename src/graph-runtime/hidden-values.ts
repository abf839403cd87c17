import type { TracedRun } from "./trace-queue.ts";

/** The metadata that the platform sets itself, and by which it finds the runs of a thread or a deployment. */
const OWN_METADATA = [
  "run_id",
  "thread_id",
  "assistant_id",
  "graph_id",
  "deployment_id",
  "run_attempt",
] as const;

/**
 * Returns a traced run without what the project's environment hides: `LANGSMITH_HIDE_INPUTS`, `LANGSMITH_HIDE_OUTPUTS`
 * and `LANGSMITH_HIDE_METADATA` (or their older names with `LANGCHAIN_`) are "true". LangSmith's client sends empty
 * objects instead.
 */
export function withoutHidden(run: TracedRun): TracedRun {
  const shown = { ...run };
  if (shown.inputs !== undefined && hides("INPUTS")) shown.inputs = {};
  if (shown.outputs !== undefined && hides("OUTPUTS")) shown.outputs = {};
  const { extra } = shown;
  if (typeof extra === "object" && extra !== null && "metadata" in extra && hides("METADATA")) {
    shown.extra = { ...extra, metadata: ownMetadata(extra.metadata) };
  }
  return shown;
}

function hides(what: "INPUTS" | "OUTPUTS" | "METADATA"): boolean {
  return ["LANGSMITH", "LANGCHAIN"].some(
    (prefix) => process.env[`${prefix}_HIDE_${what}`] === "true",
  );
}

function ownMetadata(metadata: unknown): Record<string, unknown> {
  if (typeof metadata !== "object" || metadata === null) return {};
  const given = new Map<string, unknown>(Object.entries(metadata));
  return Object.fromEntries(
    OWN_METADATA.filter((key) => given.has(key)).map((key) => [key, given.get(key)]),
  );
}
