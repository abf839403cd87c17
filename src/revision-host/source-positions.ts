import { originalPositionFor, TraceMap } from "@jridgewell/trace-mapping";
import { z } from "zod";
import { isolateCache } from "../lib/isolate-cache.ts";
import { jsonOrUndefined } from "../lib/json.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import { sourceMapKey } from "./built-code.ts";

/**
 * A position in a module of deployed code, in the format of workerd's stack traces. It matches only at the
 * beginning of a name, and its parts have a limited length, because the text is whatever deployed code wrote.
 */
const FRAME = /(?:file:\/\/\/|(?<![\w./-]))([\w.-]{1,100}\.m?js):(\d{1,7}):(\d{1,7})/g;

/** Maximum characters of a text that are searched; a log keeps no more than that. */
const MAX_TEXT_CHARS = 8192;

/** Limits of a map: each of its positions takes some hundred bytes of an isolate that many deployments share. */
const MAX_PLACES = 50_000;
const MAX_MAP_CHARS = 1024 * 1024;
const MAX_SOURCES = 5000;
const MAX_SOURCE_CHARS = 255;
const MAX_KNOWN = 3;

const sourceMap = z.object({
  version: z.literal(3),
  sources: z.array(z.string().min(1).max(MAX_SOURCE_CHARS)).max(MAX_SOURCES),
  names: z.array(z.string()).max(0),
  mappings: z.string().refine(hasFewPlaces),
});

/** The part of the bucket of built code that is used here. */
type MapSource = {
  get: (key: string) => Promise<{ text: () => Promise<string> } | null>;
};

/** Maps cached in this isolate, the newest last, because a deployment that fails usually fails repeatedly. */
const known = isolateCache<string, Promise<TraceMap | null>>({ maxEntries: MAX_KNOWN });

/**
 * Returns the stored form of a module's source map: what a build wrote, validated and reduced to what is read from
 * it. Null if the map is too large, or differs from those that this platform's tools create.
 */
export function storableMap(text: string, module: string): string | null {
  if (text.length > MAX_MAP_CHARS) return null;
  const parsed = sourceMap.safeParse(jsonOrUndefined(text));
  return parsed.success ? JSON.stringify({ ...parsed.data, file: module }) : null;
}

/**
 * Returns the texts with positions in a revision's bundle replaced by those in the project's source files. A
 * position without a source is kept, and so is the part of a text that is too long for a log. Nothing is read from
 * the bucket if the texts contain no position.
 */
export async function atSourcePositions(
  sources: MapSource,
  ref: RevisionRef,
  texts: readonly string[],
): Promise<string[]> {
  const kept = texts.map((text) => text.slice(0, MAX_TEXT_CHARS));
  if (!kept.some((text) => text.search(FRAME) !== -1)) return [...texts];
  const map = await mapOf(sources, ref);
  if (map === null) return [...texts];
  return texts.map((text, index) => {
    const start = kept[index] ?? "";
    return atSource(start, map) + text.slice(start.length);
  });
}

function atSource(text: string, map: TraceMap): string {
  return text.replaceAll(FRAME, (frame, module: string, line: string, column: string) => {
    const place = { line: Number(line), column: Number(column) - 1 };
    if (module !== map.file || place.line < 1 || place.column < 0) return frame;
    const found = originalPositionFor(map, place);
    return found.source === null ? frame : `${found.source}:${found.line}:${found.column + 1}`;
  });
}

function hasFewPlaces(mappings: string): boolean {
  let places = 1;
  for (const character of mappings) if (character === "," || character === ";") places += 1;
  return places <= MAX_PLACES;
}

function mapOf(sources: MapSource, ref: RevisionRef): Promise<TraceMap | null> {
  const key = sourceMapKey(ref);
  const reading = known.get(key) ?? readMap(sources, key);
  known.set(key, reading);
  return reading;
}

/** Returns null if the revision has no map, or it cannot be read: the log line must not be lost because of that. */
async function readMap(sources: MapSource, key: string): Promise<TraceMap | null> {
  try {
    const object = await sources.get(key);
    return object === null ? null : new TraceMap(await object.text());
  } catch {
    known.delete(key);
    return null;
  }
}
