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

/** The fields without a small size limit: long ones are stored apart from the run's row, and large ones in R2. */
export const PAYLOAD_FIELDS = [
  "inputs",
  "outputs",
  "events",
  "extra",
  "serialized",
  "error",
] as const;

export type PayloadField = (typeof PAYLOAD_FIELDS)[number];

/** The original JSON text of a field, checked to be valid; it keeps integers beyond 2^53 exact. */
type InlinePayload = { json: string };

/** The R2 key of that text; `bytes` is its length. */
type PayloadObject = { object: string; bytes: number };

export type Payload = InlinePayload | PayloadObject;

export type Attachment = {
  name: string;
  mimeType: string;
  bytes: number;
  /** The R2 key. */
  object: string;
};

/** A text leaf of inputs, outputs or metadata, for filters: its dot path (without array indexes) and its text. */
export type Leaf = [path: string, value: string];

/** What the filter language and the derived columns need of payloads, collected while they are parsed. */
export type PayloadFacts = {
  inputsPreview?: string | null;
  outputsPreview?: string | null;
  /** JSON of a list of `Leaf`. */
  inputLeaves?: string;
  outputLeaves?: string;
  /** The usage that `outputs` reports; null if there is none. */
  usage?: Usage | null;
  /** The first characters of the error, if one is given. */
  errorHead?: string;
  /** Time of the first `new_token` event. */
  firstTokenTime?: Micros | null;
};

/** A project by its id, or by its name. A project that is named and does not exist is created. */
export type ProjectRef = { id: string } | { name: string };

/** A run's place in its tree. A patch that names no project belongs to that of its run. */
export type RunIdentity = {
  traceId: string;
  parentRunId: string | null;
  /** In lower case; the time in its last segment determines the run's shard. */
  dottedOrder: string;
};

/**
 * One create (`post`) or update (`patch`) of a run, checked and in the store's terms, by whichever route it
 * arrived. Members that were not given are undefined.
 */
export type RunWrite = {
  kind: "post" | "patch";
  /** Lower-case UUID with dashes. */
  id: string;
  /** Absent where the request may omit it: POST and PATCH of a single run. */
  identity: RunIdentity | undefined;
  /** The parent of a post without identity. */
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

/** Returns the length of the payload texts that a write carries, in UTF-16 code units. */
export function payloadTextLength({ payloads }: RunWrite): number {
  let length = 0;
  for (const payload of Object.values(payloads)) {
    if ("json" in payload) length += payload.json.length;
  }
  return length;
}

/** Token counts, and costs in USD, as clients report them. Members that were not reported are undefined. */
export type Usage = {
  /** Reported at the top level of the outputs or metadata: it counts for every run type, not only `llm`. */
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
