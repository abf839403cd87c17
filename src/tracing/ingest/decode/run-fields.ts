import type { RunWrite } from "../../model/run-write.ts";
import { InvalidRun } from "./invalid-run.ts";
import { type Micros, parseTime } from "../../../lib/time.ts";
import { parseUuid } from "../../../lib/uuid.ts";
import { formatDottedOrder, parseDottedOrder } from "../../model/dotted-order.ts";

/** Reads the fields of one run object: undefined if missing or null. Throws InvalidRun for an invalid value. */
export class RunFields {
  readonly #record: Record<string, unknown>;
  /** Set as soon as it is known, for error messages. */
  runId: string | undefined;

  constructor(value: unknown, runId: string | undefined) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new InvalidRun(runId, "", "a run should be an object");
    }
    this.#record = value as Record<string, unknown>;
    this.runId = runId;
  }

  /** Returns any JSON value. */
  value(field: string): unknown {
    // A field that was not sent must not be found on Object.prototype.
    return Object.hasOwn(this.#record, field) ? (this.#record[field] ?? undefined) : undefined;
  }

  /** Returns the names that are not among `known`. */
  namesBesides(known: ReadonlySet<string>): string[] {
    return Object.keys(this.#record).filter((name) => !known.has(name));
  }

  text(field: string, maxChars: number): string | undefined {
    const value = this.value(field);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw this.invalid(field, "should be a string");
    return this.checkText(field, value, maxChars);
  }

  checkText(field: string, text: string, maxChars: number): string {
    if (text.length > maxChars) {
      throw this.invalid(field, `should have at most ${maxChars} characters`);
    }
    if (text.includes("\0")) throw this.invalid(field, "should not contain a NUL character");
    return text;
  }

  uuid(field: string): string | undefined {
    const value = this.value(field);
    if (value === undefined) return undefined;
    const uuid = typeof value === "string" ? parseUuid(value) : null;
    if (uuid === null) throw this.invalid(field, "should be a UUID");
    return uuid;
  }

  time(field: string): Micros | undefined {
    const value = this.value(field);
    if (value === undefined) return undefined;
    const time = parseTime(value);
    if (time === null) {
      const expected = "an ISO 8601 time or a number of milliseconds since 1970";
      throw this.invalid(field, `should be ${expected}, between 1970 and 2255`);
    }
    return time;
  }

  oneOf<T extends string>(field: string, allowed: readonly T[]): T | undefined {
    const value = this.value(field);
    if (value === undefined) return undefined;
    const found = allowed.find((each) => each === value);
    if (found === undefined) throw this.invalid(field, `should be one of ${allowed.join(", ")}`);
    return found;
  }

  invalid(field: string, message: string): InvalidRun {
    return new InvalidRun(this.runId, field, message);
  }
}

type ReadPlace = {
  place: Pick<RunWrite, "identity" | "parentRunId">;
  /** Start of the run according to its dotted_order; undefined if there is none. */
  segmentTime: Micros | undefined;
};

/** A valid dotted order that matches this is already in the form in which it is stored. */
const CANONICAL = /^(?:\d{8}T\d{12}Z[0-9a-f-]{36}\.?)+$/;

/**
 * Returns the run's id: `given` by the path or the part's name, the run's own, or both if they agree.
 * `made` is for a run that has neither an id nor a place in a tree.
 */
export function readRunId(
  fields: RunFields,
  given: string | undefined,
  made: string | undefined,
): string {
  const own = fields.uuid("id");
  const hasPlace = ["trace_id", "dotted_order"].some((field) => fields.value(field) !== undefined);
  const id = own ?? given ?? (hasPlace ? undefined : made);
  if (id === undefined) throw fields.invalid("id", "is required");
  if (given !== undefined && own !== undefined && own !== given) {
    throw fields.invalid("id", `${own} differs from ${given}, under which the run was sent`);
  }
  return id;
}

/**
 * Returns the run's place in its tree. `trace_id` and `parent_run_id` only repeat what `dotted_order`
 * says, and must agree with it.
 */
export function readRunPlace(fields: RunFields, id: string, kind: RunWrite["kind"]): ReadPlace {
  const dottedOrder = fields.text("dotted_order", Number.MAX_SAFE_INTEGER);
  const traceId = fields.uuid("trace_id");
  const parentRunId = fields.uuid("parent_run_id");
  if (dottedOrder === undefined) {
    if (kind === "post" && parentRunId === undefined && (traceId ?? id) !== id) {
      const message = `${traceId} differs from id ${id}, but there is neither parent_run_id nor dotted_order`;
      throw fields.invalid("trace_id", message);
    }
    return {
      place: { identity: undefined, parentRunId: parentRunId ?? null },
      segmentTime: undefined,
    };
  }
  const segments = parseDottedOrder(dottedOrder);
  const [root] = segments ?? [];
  const last = segments?.at(-1);
  if (segments === null || root === undefined || last === undefined) {
    const format = "YYYYMMDDTHHMMSSffffffZ<run id> for each run from the root on, joined by dots";
    throw fields.invalid("dotted_order", `should be ${format}`);
  }
  const parent = segments.at(-2)?.id ?? null;
  if (last.id !== id) {
    throw fields.invalid("dotted_order", `its last run ${last.id} differs from id ${id}`);
  }
  if (traceId !== undefined && traceId !== root.id) {
    throw fields.invalid(
      "trace_id",
      `${traceId} differs from ${root.id}, the first of dotted_order`,
    );
  }
  if (parentRunId !== undefined && parentRunId !== parent) {
    const message =
      parent === null
        ? `${parentRunId} is not in dotted_order, according to which the run has no parent`
        : `${parentRunId} differs from ${parent}, the second to last of dotted_order`;
    throw fields.invalid("parent_run_id", message);
  }
  return {
    place: {
      identity: {
        traceId: root.id,
        parentRunId: parent,
        dottedOrder: CANONICAL.test(dottedOrder) ? dottedOrder : formatDottedOrder(segments),
      },
    },
    segmentTime: last.time,
  };
}
