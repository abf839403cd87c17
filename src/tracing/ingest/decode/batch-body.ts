import type { NoteUnknown } from "../../../lib/unknown-members.ts";
import { invalidField } from "../../../lib/api-error.ts";
import type { RunWrite } from "../../model/run-write.ts";
import { InvalidRun, malformedRun, type RunFailure, toRunFailure } from "./invalid-run.ts";
import { scanItems, scanMembers, skipSpace, skipValue } from "../../model/json-text.ts";
import { checkJson, InvalidJson, type JsonValue, parseUnchecked } from "./json-value.ts";
import { payloadTexts, readRun } from "./run-body.ts";
import type { SourceTexts } from "./run-payloads.ts";
import { parseUuid } from "../../../lib/uuid.ts";

const KINDS = ["post", "patch"] as const;

type Kind = (typeof KINDS)[number];

/** Maximum runs per list: each refused run has its own error, and a body of 32 MB could hold 16 million runs. */
const MAX_RUNS = 100_000;

/** The position of a run in the document, and the texts of its payloads. */
type RunExtent = { start: number; end: number; texts: SourceTexts };

/**
 * Decodes `{"post": [run, ...], "patch": [run, ...]}`, either of which may be missing or null. An invalid
 * run becomes a failure and does not affect the others. An invalid document throws an ApiError
 * "validation". Unknown members are ignored and reported to `onUnknown`.
 */
export function decodeBatch(
  bytes: Uint8Array,
  onUnknown: NoteUnknown = () => {},
): { writes: RunWrite[]; failures: RunFailure[] } {
  const { value, text } = parseDocument(bytes);
  const runs = runsOf(value, onUnknown);
  const sources = locateRuns(text);
  const writes: RunWrite[] = [];
  const failures: RunFailure[] = [];
  for (const kind of KINDS) {
    for (const [index, run] of runs[kind].entries()) {
      const place = `${kind}[${index}]`;
      const source = sources[kind][index];
      if (source === undefined) throw new Error(`${place} is not in the text`);
      try {
        checkJson(run, text.slice(source.start, source.end));
        const { texts } = source;
        const ofRun = (keys: string[]) => onUnknown({ path: [kind, index], keys });
        writes.push(readRun(kind, run, { identity: "required", texts, onUnknown: ofRun }));
      } catch (error) {
        if (error instanceof InvalidRun) failures.push(toRunFailure(place, error));
        else if (error instanceof InvalidJson) {
          failures.push(malformedRun(idOf(run), place, error.message));
        } else throw error;
      }
    }
  }
  return { writes, failures };
}

function parseDocument(bytes: Uint8Array): JsonValue {
  try {
    return parseUnchecked(bytes);
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error;
    throw invalidField(["body"], `the body ${error.message}`, "json_invalid");
  }
}

function runsOf(body: unknown, onUnknown: NoteUnknown): Record<Kind, unknown[]> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalidField(["body"], "Input should be an object", "dict_type");
  }
  const runs: Record<Kind, unknown[]> = { post: [], patch: [] };
  for (const [key, value] of Object.entries(body)) {
    if (key !== "post" && key !== "patch") {
      onUnknown({ path: [], keys: [key] });
      continue;
    }
    if (value === null) continue;
    if (!Array.isArray(value)) {
      throw invalidField(["body", key], "Input should be a valid list", "list_type");
    }
    if (value.length > MAX_RUNS) {
      const msg = `List should have at most ${MAX_RUNS} items`;
      throw invalidField(["body", key], msg, "too_long");
    }
    runs[key] = value;
  }
  return runs;
}

function locateRuns(text: string): Record<Kind, RunExtent[]> {
  const sources: Record<Kind, RunExtent[]> = { post: [], patch: [] };
  scanMembers(text, skipSpace(text, 0), (key, start) => {
    if ((key !== "post" && key !== "patch") || text[start] !== "[") return skipValue(text, start);
    const located: RunExtent[] = [];
    sources[key] = located;
    return scanItems(text, start, (itemStart) => {
      const { texts, end } =
        text[itemStart] === "{"
          ? payloadTexts(text, itemStart)
          : { texts: {}, end: skipValue(text, itemStart) };
      located.push({ start: itemStart, end, texts });
      return end;
    });
  });
  return sources;
}

function idOf(run: unknown): string | null {
  const id = typeof run === "object" && run !== null ? Reflect.get(run, "id") : null;
  return typeof id === "string" ? parseUuid(id) : null;
}
