import { payloadTextLength, type RunWrite } from "../../model/run-write.ts";
import type { NoteUnknown } from "../../../lib/unknown-members.ts";
import { InvalidRun, malformedRun, type RunFailure, toRunFailure } from "./invalid-run.ts";
import type { JsonValue } from "./json-value.ts";
import type { FieldPartName, RunPartName } from "./part-head.ts";
import { readRunJson } from "./run-body.ts";
import { addPayload } from "./run-payloads.ts";

export type AssembledRun =
  | { type: "write"; write: RunWrite }
  | { type: "failure"; failure: RunFailure };

/** Limits on the fields that are held in memory until their run arrives. */
const MAX_HELD_PARTS = 1000;
const MAX_HELD_CHARS = 16 * 1024 * 1024;

/** Maximum characters of collected payloads: several fields of the largest size would not fit into memory. */
const MAX_OPEN_CHARS = 4 * 1024 * 1024;

type HeldField = { name: FieldPartName; json: JsonValue };

type RunState =
  | { type: "held"; fields: HeldField[] }
  | { type: "seen"; identity: RunWrite["identity"]; project: RunWrite["project"] }
  | { type: "failed" };

/**
 * Assembles the parts of runs. SDKs send a run's parts one after the other, so a run is complete when a part
 * of another run arrives. A field that arrives later, or after large ones, becomes an update of its own; a
 * field that arrives before its run is held. After an invalid part, the rest of its run is ignored.
 */
export class RunAssembly {
  /** Keyed by `post.<run id>` or `patch.<run id>`: a create and an update of one run are two writes. */
  readonly #states = new Map<string, RunState>();
  #open: { key: string; write: RunWrite } | null = null;
  #heldParts = 0;
  #heldChars = 0;
  readonly #onUnknown: NoteUnknown;

  constructor(onUnknown: NoteUnknown) {
    this.#onUnknown = onUnknown;
  }

  /** Announces that the next part belongs to this run. Returns the run that is complete as a result. */
  turnTo(runId: string): AssembledRun[] {
    return this.#open?.write.id === runId ? [] : this.close();
  }

  add(name: RunPartName | FieldPartName, json: JsonValue): AssembledRun[] {
    const key = keyOf(name);
    const assembled = name.type === "run" || this.#open?.key !== key ? this.close() : [];
    try {
      if (name.type === "run") this.#addRun(name, json);
      else this.#addField(name, json);
      if (this.#open !== null && payloadTextLength(this.#open.write) > MAX_OPEN_CHARS) {
        assembled.push(...this.close());
      }
    } catch (error) {
      if (!(error instanceof InvalidRun)) throw error;
      this.#giveUp(key);
      assembled.push({ type: "failure", failure: toRunFailure(key, error) });
    }
    return assembled;
  }

  /** Gives up a run because one of its parts cannot be read. */
  fail(name: RunPartName | FieldPartName, reason: string): AssembledRun[] {
    this.#giveUp(keyOf(name));
    return [failureOf(name, reason)];
  }

  /** Returns the open run, which no more parts will follow. */
  close(): AssembledRun[] {
    const open = this.#open;
    this.#open = null;
    return open === null ? [] : [{ type: "write", write: open.write }];
  }

  /** Returns what is left when there are no more parts. */
  end(): AssembledRun[] {
    const assembled = this.close();
    for (const [key, state] of this.#states) {
      if (state.type !== "held") continue;
      for (const { name } of state.fields) {
        assembled.push(failureOf(name, `the part ${key} that it belongs to is missing`));
      }
    }
    return assembled;
  }

  #addRun(name: RunPartName, json: JsonValue): void {
    const key = keyOf(name);
    const state = this.#states.get(key);
    if (state?.type === "failed") return;
    const write = readRunJson(name.kind, json, {
      id: name.runId,
      identity: "required",
      onUnknown: (keys) => this.#onUnknown({ path: [name.kind, 0], keys }),
    });
    if (state?.type === "held") {
      this.#release(state.fields);
      for (const { name, json } of state.fields) {
        addPayload(write, name.runId, name.field, json.value, json.text);
      }
    }
    this.#states.set(key, { type: "seen", identity: write.identity, project: write.project });
    this.#open = { key, write };
  }

  #addField(name: FieldPartName, json: JsonValue): void {
    const key = keyOf(name);
    const state = this.#states.get(key) ?? { type: "held", fields: [] };
    if (state.type === "failed") return;
    if (state.type === "held") {
      this.#hold(key, state.fields, { name, json });
      return;
    }
    const { identity, project } = state;
    this.#open ??= {
      key,
      write: { kind: "patch", id: name.runId, identity, project, payloads: {}, facts: {} },
    };
    addPayload(this.#open.write, name.runId, name.field, json.value, json.text);
  }

  #hold(key: string, fields: HeldField[], held: HeldField): void {
    this.#heldParts += 1;
    this.#heldChars += held.json.text.length;
    fields.push(held);
    this.#states.set(key, { type: "held", fields });
    if (this.#heldParts > MAX_HELD_PARTS || this.#heldChars > MAX_HELD_CHARS) {
      const { runId, field } = held.name;
      throw new InvalidRun(
        runId,
        field,
        `too much was sent before the part ${key} that it belongs to`,
      );
    }
  }

  #release(fields: readonly HeldField[]): void {
    this.#heldParts -= fields.length;
    for (const { json } of fields) this.#heldChars -= json.text.length;
  }

  #giveUp(key: string): void {
    const state = this.#states.get(key);
    if (state?.type === "held") this.#release(state.fields);
    if (this.#open?.key === key) this.#open = null;
    this.#states.set(key, { type: "failed" });
  }
}

function keyOf({ kind, runId }: RunPartName | FieldPartName): string {
  return `${kind}.${runId}`;
}

function failureOf(name: RunPartName | FieldPartName, reason: string): AssembledRun {
  const place = name.type === "field" ? `${keyOf(name)}.${name.field}` : keyOf(name);
  return { type: "failure", failure: malformedRun(name.runId, place, reason) };
}
