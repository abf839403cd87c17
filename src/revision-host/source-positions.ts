import { originalPositionFor, TraceMap } from "@jridgewell/trace-mapping";
import type { RevisionRef } from "../lib/revision-ref.ts";
import { sourceMapKey } from "./built-code.ts";

/** A place in a module of deployed code, as workerd names it in a stack. */
const FRAME = /(?:file:\/\/\/)?\b([\w.-]+\.m?js):(\d+):(\d+)/g;

/** The bucket of built code, as far as it is asked here. */
type MapSource = {
  get: (key: string) => Promise<{ size: number; text: () => Promise<string> } | null>;
};

/** A map holds the project's own modules only; one that does not was not made by this platform's tools. */
const MAX_MAP_BYTES = 4 * 1024 * 1024;

/** Of this isolate, the newest last: a deployment that fails does so again and again. */
const MAX_KNOWN = 20;

const known = new Map<string, Promise<TraceMap | null>>();

/**
 * The texts with the places in a revision's bundle made those of the project's source files. What has no
 * place there stays as it is; nothing is read for texts that name no place.
 */
export async function atSourcePositions(
  sources: MapSource,
  ref: RevisionRef,
  texts: readonly string[],
): Promise<string[]> {
  if (!texts.some((text) => text.search(FRAME) !== -1)) return [...texts];
  const map = await mapOf(sources, ref);
  return map === null ? [...texts] : texts.map((text) => atSource(text, map));
}

function atSource(text: string, map: TraceMap): string {
  return text.replaceAll(FRAME, (frame, _module: string, line: string, column: string) => {
    const place = { line: Number(line), column: Number(column) - 1 };
    if (place.line < 1 || place.column < 0) return frame;
    const found = originalPositionFor(map, place);
    return found.source === null ? frame : `${found.source}:${found.line}:${found.column + 1}`;
  });
}

function mapOf(sources: MapSource, ref: RevisionRef): Promise<TraceMap | null> {
  const key = sourceMapKey(ref);
  const reading = known.get(key) ?? readMap(sources, key);
  known.delete(key);
  known.set(key, reading);
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  return reading;
}

/** Null for a revision without a map, and for one that cannot be read: a log line is worth more than that. */
async function readMap(sources: MapSource, key: string): Promise<TraceMap | null> {
  try {
    const object = await sources.get(key);
    if (object === null || object.size > MAX_MAP_BYTES) return null;
    return new TraceMap(await object.text());
  } catch {
    known.delete(key);
    return null;
  }
}
