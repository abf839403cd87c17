import type { Micros } from "../../lib/time.ts";

export const RUN_TYPES = [
  "tool",
  "chain",
  "llm",
  "retriever",
  "embedding",
  "prompt",
  "parser",
] as const;

export type RunType = (typeof RUN_TYPES)[number];

/** The fields whose size has no small bound: kept apart from the row, in R2 when large. */
export const PAYLOAD_FIELDS = [
  "inputs",
  "outputs",
  "events",
  "extra",
  "serialized",
  "error",
] as const;

export type PayloadField = (typeof PAYLOAD_FIELDS)[number];

/** A field's JSON text as it came (integers beyond 2^53 and all), checked to be valid JSON. */
type InlinePayload = { json: string };

/** Where in R2 that text is; `bytes` is its length. */
type PayloadObject = { object: string; bytes: number };

export type Payload = InlinePayload | PayloadObject;

export type Attachment = {
  name: string;
  mimeType: string;
  bytes: number;
  /** The R2 key. */
  object: string;
};

/** Text leaves of inputs or outputs, for filters: dot path (arrays collapse) and text. */
export type Leaf = [path: string, value: string];

/** What the filter language and the derived columns need of payloads, taken while they are parsed. */
export type PayloadFacts = {
  inputsPreview?: string | null;
  outputsPreview?: string | null;
  /** JSON of a list of `Leaf`. */
  inputLeaves?: string;
  outputLeaves?: string;
  /** In `outputs`, when they carry any. */
  usage?: Usage | null;
  /** The error's first characters, when it is given. */
  errorHead?: string;
  /** When the first `new_token` event was. */
  firstTokenTime?: Micros | null;
};

/** A project by its id, or by its name, which creates it when there is none. */
export type ProjectRef = { id: string } | { name: string };

/** Where in the tree a run is; the project of a patch that does not say is that of the run. */
export type RunIdentity = {
  traceId: string;
  parentRunId: string | null;
  /** Lower case; its last segment holds the time that chooses the run's shard. */
  dottedOrder: string;
};

/**
 * One create (`post`) or update (`patch`) of a run, checked and in the store's terms, whatever
 * route it came by. What is undefined was not given.
 */
export type RunWrite = {
  kind: "post" | "patch";
  /** Lower-case UUID with dashes. */
  id: string;
  /** Absent where the request may leave it out: POST and PATCH of a single run. */
  identity: RunIdentity | undefined;
  /** For a post without identity. */
  parentRunId?: string | null;
  project: ProjectRef | undefined;
  name?: string;
  runType?: RunType;
  startTime?: Micros;
  endTime?: Micros;
  tags?: string[];
  referenceExampleId?: string;
  payloads: Partial<Record<PayloadField, Payload>>;
  attachments?: Attachment[];
  facts: PayloadFacts;
};

/** The length of the payload texts that a write carries, in UTF-16 units. */
export function payloadTextLength({ payloads }: RunWrite): number {
  let length = 0;
  for (const payload of Object.values(payloads)) {
    if ("json" in payload) length += payload.json.length;
  }
  return length;
}

/** Token counts, and costs in USD, as clients report them. Undefined where not given. */
export type Usage = {
  /** Given at the top of the outputs or metadata: counts for every run type, not only `llm`. */
  explicit: boolean;
  input_tokens?: number;
  output_tokens?: number;
  total_tokens?: number;
  input_token_details?: Record<string, number>;
  output_token_details?: Record<string, number>;
  input_cost?: number;
  output_cost?: number;
  total_cost?: number;
  input_cost_details?: Record<string, number>;
  output_cost_details?: Record<string, number>;
};
