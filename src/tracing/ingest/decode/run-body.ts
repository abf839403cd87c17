import type { Micros } from "../../../lib/time.ts";
import {
  PAYLOAD_FIELDS,
  type ProjectRef,
  RUN_TYPES,
  type RunWrite,
} from "../../model/run-write.ts";
import { readRunId, readRunPlace, RunFields } from "./run-fields.ts";
import { isPayloadField, readPayloads, type SourceTexts } from "./run-payloads.ts";
import { scanMembers, skipValue } from "../../model/json-text.ts";
import type { JsonValue } from "./json-value.ts";

const MAX_NAME_CHARS = 10_000;

const MAX_TAGS = 1000;

/** Maximum characters of all tags together, which are a part of the run's row. */
const MAX_TAG_CHARS = 100_000;

/** The members of a run that are read; all others have no effect. */
const RUN_MEMBERS: ReadonlySet<string> = new Set([
  "id",
  "trace_id",
  "parent_run_id",
  "dotted_order",
  "name",
  "run_type",
  "start_time",
  "end_time",
  "tags",
  "session_id",
  "session_name",
  "reference_example_id",
  ...PAYLOAD_FIELDS,
]);

export type ReadRunOptions = {
  /** The id from the path or the part's name; the run's own id must be the same. */
  id?: string;
  /** Requests with many runs must give the place of each run in its tree; single runs may omit it. */
  identity: "required" | "optional";
  texts?: SourceTexts;
  /** Receives the names of unknown members. */
  onUnknown?: (names: string[]) => void;
  /** The id and start of a run that gives no id; without these, every run must give one. */
  unnamed?: UnnamedRun;
};

/** The start applies if the run gives none either. A run with an id may be sent again, and would then move. */
export type UnnamedRun = { id: string; startTime: Micros };

/**
 * Checks one run as clients send it. Unknown fields are ignored, and null is equivalent to absent. Throws
 * InvalidRun.
 */
export function readRun(kind: RunWrite["kind"], value: unknown, options: ReadRunOptions): RunWrite {
  const fields = new RunFields(value, options.id);
  if (options.onUnknown !== undefined) {
    const unknown = fields.namesBesides(RUN_MEMBERS);
    if (unknown.length > 0) options.onUnknown(unknown);
  }
  const id = readRunId(fields, options.id, options.unnamed?.id);
  fields.runId = id;
  const { place, segmentTime } = readRunPlace(fields, id, kind);
  if (options.identity === "required" && place.identity === undefined) {
    throw fields.invalid("dotted_order", "is required");
  }
  const name = fields.text("name", MAX_NAME_CHARS);
  const runType = fields.oneOf("run_type", RUN_TYPES);
  let startTime = fields.time("start_time");
  if (kind === "post") {
    startTime ??= segmentTime;
    if (id === options.unnamed?.id) startTime ??= options.unnamed.startTime;
    if (name === undefined) throw fields.invalid("name", "is required");
    if (runType === undefined) throw fields.invalid("run_type", "is required");
    if (startTime === undefined) throw fields.invalid("start_time", "is required");
  }
  const endTime = fields.time("end_time");
  const tags = readTags(fields);
  const referenceExampleId = fields.uuid("reference_example_id");
  return {
    kind,
    id,
    ...place,
    project: readProject(fields),
    ...(name !== undefined && { name }),
    ...(runType !== undefined && { runType }),
    ...(startTime !== undefined && { startTime }),
    ...(endTime !== undefined && { endTime }),
    ...(tags !== undefined && { tags }),
    ...(referenceExampleId !== undefined && { referenceExampleId }),
    ...readPayloads(fields, options.texts ?? {}),
  };
}

function readTags(fields: RunFields): string[] | undefined {
  const tags = fields.value("tags");
  if (tags === undefined) return undefined;
  if (!Array.isArray(tags)) throw fields.invalid("tags", "should be a list of strings");
  if (tags.length > MAX_TAGS) throw fields.invalid("tags", `should have at most ${MAX_TAGS} items`);
  let chars = 0;
  return tags.map((tag: unknown, index) => {
    const field = `tags[${index}]`;
    if (typeof tag !== "string") throw fields.invalid(field, "should be a string");
    chars += tag.length;
    if (chars > MAX_TAG_CHARS) {
      throw fields.invalid("tags", `should have at most ${MAX_TAG_CHARS} characters in all`);
    }
    return fields.checkText(field, tag, MAX_NAME_CHARS);
  });
}

/** The id takes precedence over the name. An empty name comes from an unset variable and counts as absent. */
function readProject(fields: RunFields): ProjectRef | undefined {
  const id = fields.uuid("session_id");
  const name = fields.text("session_name", MAX_NAME_CHARS);
  if (id !== undefined) return { id };
  return name === undefined || name === "" ? undefined : { name };
}

/** Like `readRun`, for a whole JSON document; payloads keep the text that they have in it. */
export function readRunJson(
  kind: RunWrite["kind"],
  { value, text }: JsonValue,
  options: Omit<ReadRunOptions, "texts">,
): RunWrite {
  const hasPayload =
    typeof value === "object" && value !== null && Object.keys(value).some(isPayloadField);
  const texts =
    hasPayload && !Array.isArray(value) ? payloadTexts(text, text.indexOf("{")).texts : {};
  return readRun(kind, value, { ...options, texts });
}

/** Returns the texts of the payloads in the object at `start`, and the end of the object. */
export function payloadTexts(text: string, start: number): { texts: SourceTexts; end: number } {
  const texts: SourceTexts = {};
  const end = scanMembers(text, start, (key, valueStart) => {
    const valueEnd = skipValue(text, valueStart);
    // The last of a repeated key counts, as in the parser.
    if (isPayloadField(key)) texts[key] = text.slice(valueStart, valueEnd);
    return valueEnd;
  });
  return { texts, end };
}
