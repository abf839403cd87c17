import type { Micros } from "../../model/run-write.ts";
import { InvalidRun } from "./invalid-run.ts";
import { parseTime } from "../../../lib/parse-time.ts";
import { parseUuid } from "../../../lib/uuid.ts";

/** Reads the fields of one run object: undefined for what is missing or null, InvalidRun thrown. */
export class RunFields {
  readonly #record: Record<string, unknown>;
  /** Set as soon as it is known, for the errors. */
  runId: string | undefined;

  constructor(value: unknown, runId: string | undefined) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new InvalidRun(runId, "", "a run should be an object");
    }
    this.#record = value as Record<string, unknown>;
    this.runId = runId;
  }

  /** Any JSON value. */
  value(field: string): unknown {
    // A field that nobody sent must not be found on Object.prototype.
    return Object.hasOwn(this.#record, field) ? (this.#record[field] ?? undefined) : undefined;
  }

  /** The names that are none of `known`. */
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
