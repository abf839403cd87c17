import { isObject, type JsonObject } from "../../lib/json.ts";
import type { Attachment, Payload, PayloadField, RunWrite, Usage } from "../model/run-write.ts";
import type { OwnAmounts } from "./amounts.ts";
import type { KeyParts } from "../filter/run-key.ts";
import { readAttachments, type RunLeaves, type TracedRunRow } from "../model/run-row.ts";
import { fromStored } from "./stored-payload.ts";
import type { PayloadPlaces, StoredRun } from "./stored-runs.ts";

/** A bit for each field that a patch has set: a create that arrives later must not undo it. */
const PATCHED_BIT = {
  name: 1,
  run_type: 2,
  start_time: 4,
  end_time: 8,
  tags: 16,
  reference_example_id: 32,
  inputs: 64,
  outputs: 128,
  events: 256,
  extra: 512,
  serialized: 1024,
  error: 2048,
} as const;

/** Maximum bytes of the merged `extra`: a value in an object's SQLite has 2 MB at most. */
export const MAX_EXTRA_BYTES = 1_900_000;

type Member = keyof typeof PATCHED_BIT;

/** One run while the writes of a request are applied to its stored state. */
export class RunMerge {
  readonly row: TracedRunRow & RunLeaves;
  readonly isNew: boolean;
  /** Payloads to write. */
  readonly payloads = new Map<PayloadField, Payload>();
  /** Number of payloads that were set; a write may set one to its current value. */
  puts = 0;
  /** The key of its row; null for a new run. */
  readonly key: KeyParts | null;
  /** Where its payloads are stored; null for a new run. */
  readonly places: PayloadPlaces | null;
  /** The merged `extra`; undefined if there is none. */
  extra: JsonObject | undefined;
  extraText: string | undefined;
  /** R2 objects that nothing refers to any more. */
  readonly dropped: string[] = [];
  attributesChanged: boolean;
  amountsChanged = false;
  /** The usage that the outputs report; null if they report none. */
  usage: Usage | null;
  /** The stored row; null for a new run. */
  readonly before: (TracedRunRow & RunLeaves) | null;

  constructor(row: TracedRunRow & RunLeaves, stored: StoredRun | null) {
    this.row = row;
    this.isNew = stored === null;
    this.key = stored?.key ?? null;
    this.places = stored?.places ?? null;
    this.attributesChanged = this.isNew;
    const own = row.own_amounts;
    this.usage = own === null ? null : (JSON.parse(own) as OwnAmounts).usage;
    this.before = stored === null ? null : { ...row };
    if (stored !== null && stored.extra !== null) {
      this.extra = JSON.parse(stored.extra) as JsonObject;
      this.extraText = stored.extra;
    }
  }

  /** Returns the columns whose values differ from the stored ones; all of them for a new run. */
  changedColumns<Column extends keyof (TracedRunRow & RunLeaves)>(
    columns: readonly Column[],
  ): Column[] {
    const { before } = this;
    if (before === null) return [...columns];
    return columns.filter((column) => this.row[column] !== before[column]);
  }

  /** Applies a write to the run. Returns false if all of it is refused because `extra` would become too large. */
  apply(write: RunWrite): boolean {
    const { row } = this;
    const extra = this.#mergedExtra(write);
    if (extra !== undefined && isLarger(extra.text, MAX_EXTRA_BYTES)) {
      this.#refuse(write);
      return false;
    }
    if (extra !== undefined) this.#setExtra(extra);
    if (write.payloads.extra !== undefined && write.kind === "patch") {
      row.patched |= PATCHED_BIT.extra;
    }
    this.#assign(write, "name", write.name);
    if (this.#assign(write, "run_type", write.runType)) this.amountsChanged = true;
    // A model's price depends on when it was called.
    if (this.#assign(write, "start_time", write.startTime)) this.amountsChanged = true;
    this.#assign(write, "end_time", write.endTime);
    row.end_time = notBefore(row.start_time, row.end_time);
    this.#assign(write, "reference_example_id", write.referenceExampleId);
    const tags = write.tags === undefined ? undefined : JSON.stringify(write.tags);
    if (this.#assign(write, "tags", tags)) this.attributesChanged = true;
    this.#applyPayloads(write);
    if (write.attachments !== undefined) this.#mergeAttachments(write.kind, write.attachments);
    row.status = row.error === null ? (row.end_time === null ? "pending" : "success") : "error";
    return true;
  }

  #refuse({ payloads, attachments = [] }: RunWrite): void {
    for (const stored of [...Object.values(payloads), ...attachments]) {
      if ("object" in stored) this.dropped.push(stored.object);
    }
  }

  #applyPayloads(write: RunWrite): void {
    const { row } = this;
    const { facts } = write;
    const inputs = this.#claimPayload(write, "inputs");
    if (inputs !== undefined) {
      this.#put("inputs", inputs);
      row.input_leaves = facts.inputLeaves ?? null;
      row.inputs_preview = facts.inputsPreview ?? null;
    }
    const outputs = this.#claimPayload(write, "outputs");
    if (outputs !== undefined) {
      this.#put("outputs", outputs);
      row.output_leaves = facts.outputLeaves ?? null;
      row.outputs_preview = facts.outputsPreview ?? null;
      this.usage = facts.usage ?? null;
      this.amountsChanged = true;
    }
    const events = this.#claimPayload(write, "events");
    if (events !== undefined) {
      this.#put("events", events);
      row.first_token_time = facts.firstTokenTime ?? null;
    }
    const serialized = this.#claimPayload(write, "serialized");
    if (serialized !== undefined) this.#put("serialized", serialized);
    const error = this.#claimPayload(write, "error");
    if (error !== undefined) {
      this.#put("error", error);
      row.error = facts.errorHead ?? "";
    }
  }

  /** Returns the payload to set; undefined if there is none, or if a patch has set it before this create. */
  #claimPayload(write: RunWrite, field: PayloadField): Payload | undefined {
    const payload = write.payloads[field];
    if (payload === undefined || this.#claim(write, field)) return payload;
    if ("object" in payload) this.dropped.push(payload.object);
    return undefined;
  }

  /** Merges attachments by name: a patch replaces stored ones, and the first of repeated creates counts. */
  #mergeAttachments(kind: RunWrite["kind"], given: Attachment[]): void {
    const before = readAttachments(this.row.attachments);
    const inOrder = kind === "patch" ? [...before, ...given] : [...given, ...before];
    const byName = new Map(inOrder.map((attachment) => [attachment.name, attachment]));
    const kept = new Set([...byName.values()].map(({ object }) => object));
    for (const { object } of inOrder) if (!kept.has(object)) this.dropped.push(object);
    if (byName.size > 0) this.row.attachments = JSON.stringify([...byName.values()]);
  }

  /** Returns what a write makes of `extra`; undefined if it does not change. */
  #mergedExtra({ kind, payloads }: RunWrite): { value: JsonObject; text: string } | undefined {
    const { extra } = payloads;
    // SDKs send the whole `extra` again with each update.
    if (extra === undefined || !("json" in extra) || extra.json === this.extraText)
      return undefined;
    const given = JSON.parse(extra.json) as JsonObject;
    const stored = this.extra;
    if (stored === undefined) return { value: given, text: extra.json };
    const under = kind === "post" && (this.row.patched & PATCHED_BIT.extra) !== 0;
    const value = under ? mergeObjects(given, stored) : mergeObjects(stored, given);
    const text = JSON.stringify(value);
    return text === this.extraText ? undefined : { value, text };
  }

  #setExtra({ value, text }: { value: JsonObject; text: string }): void {
    this.extra = value;
    this.extraText = text;
    this.#put("extra", { json: text });
    this.attributesChanged = true;
    this.amountsChanged = true;
  }

  /** Sets a column, unless the write is a create and a patch has set it before. Returns whether its value changed. */
  #assign<Column extends Member & keyof TracedRunRow>(
    write: RunWrite,
    column: Column,
    value: TracedRunRow[Column] | undefined,
  ): boolean {
    if (value === undefined || !this.#claim(write, column)) return false;
    const row: TracedRunRow = this.row;
    const changed = row[column] !== value;
    row[column] = value;
    return changed;
  }

  #claim(write: RunWrite, member: Member): boolean {
    const bit = PATCHED_BIT[member];
    if (write.kind === "patch") {
      this.row.patched |= bit;
      return true;
    }
    return (this.row.patched & bit) === 0;
  }

  #put(field: PayloadField, payload: Payload): void {
    const replaced = this.payloads.get(field) ?? fromStored(this.places?.[field] ?? undefined);
    if (replaced !== null && "object" in replaced) this.dropped.push(replaced.object);
    this.payloads.set(field, payload);
    this.puts += 1;
  }
}

function isLarger(text: string, bytes: number): boolean {
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
}

/** Merges objects member by member, at every depth; nulls in `over` do not replace existing members. */
function mergeObjects(under: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const isThere = Object.hasOwn(merged, name);
    if (value === null && isThere) continue;
    const below = isThere ? merged[name] : undefined;
    setOwn(merged, name, isObject(below) && isObject(value) ? mergeObjects(below, value) : value);
  }
  return merged;
}

/** Sets a member, even one called `__proto__`, which an assignment would not create. */
function setOwn(target: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

/**
 * Moves an end that comes before its start in the same millisecond to the start. LangChain's tracers have
 * milliseconds, and number the runs of a trace in the microseconds of their starts, so a run that takes no time
 * would end before it starts.
 */
function notBefore(start: number, end: number | null): number | null {
  if (end === null || end >= start) return end;
  return Math.floor(end / 1000) === Math.floor(start / 1000) ? start : end;
}
