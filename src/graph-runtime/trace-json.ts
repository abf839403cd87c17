/**
 * Maximum characters of a value in a trace: nobody reads longer ones. It also bounds the cost of building the
 * text.
 */
export const MAX_VALUE_CHARS = 8 * 1024 * 1024;

/** A value that is not recorded, and the reason. */
type Unrecorded = { unrecorded: string };

/**
 * Returns the JSON text of a value that a graph's code made, in the form that tracing clients write: objects
 * by their `toJSON` (messages become LangChain's constructor records), Maps as objects, Sets as arrays,
 * errors as `{name, message}`, BigInts and regular expressions as strings, a cycle as `{"result":
 * "[Circular]"}`. For binary data only the type and the length are written, because as JSON it would be many
 * times its size. Returns undefined for values that have no JSON text. Never throws.
 */
export function traceValueJson(value: unknown): string | Unrecorded | undefined {
  try {
    return JSON.stringify(new Projection().of(value, ""));
  } catch (error) {
    if (error instanceof TooLargeError) {
      return { unrecorded: `larger than ${MAX_VALUE_CHARS} characters` };
    }
    // A `toJSON` or a getter of user code failed, or the nesting was too deep.
    return {
      unrecorded: `not serialisable: ${error instanceof Error ? error.message : typeof error}`,
    };
  }
}

/**
 * Turns a value into one that `JSON.stringify` writes as described above. Most of what runs hold is plain data,
 * which is only looked at and not copied: `JSON.stringify` alone is much faster than with a replacer.
 */
class Projection {
  readonly #ancestors: object[] = [];
  #chars = 0;

  of(value: unknown, key: string): unknown {
    this.#chars += key.length + (typeof value === "string" ? value.length : 4);
    if (this.#chars > MAX_VALUE_CHARS) throw new TooLargeError();
    if (typeof value === "bigint") return value.toString();
    if (typeof value !== "object" || value === null) return value;
    // This comes before `toJSON`, because that of a Buffer makes a list of numbers.
    if (isBinary(value)) return describeBytes(value);
    if ("toJSON" in value && typeof value.toJSON === "function") {
      return this.#ofProjected(value.toJSON(key), { isCopied: true });
    }
    return this.#ofProjected(value, { isCopied: false });
  }

  #ofProjected(projected: unknown, { isCopied }: { isCopied: boolean }): unknown {
    const shown = plain(projected);
    if (typeof shown === "string") this.#chars += shown.length;
    if (typeof shown !== "object" || shown === null) return shown;
    if (this.#ancestors.includes(shown)) return { result: "[Circular]" };
    this.#ancestors.push(shown);
    const result = Array.isArray(shown) ? this.#list(shown) : this.#record(shown, isCopied);
    this.#ancestors.pop();
    return result;
  }

  #list(list: readonly unknown[]): readonly unknown[] {
    let changed: unknown[] | null = null;
    for (let index = 0; index < list.length; index += 1) {
      const item = list[index];
      const shown = this.of(item, "");
      if (shown !== item) changed ??= list.slice();
      if (changed !== null) changed[index] = shown;
    }
    return changed ?? list;
  }

  /** Copies the object if it has to be changed, or might have a `toJSON` that was called already. */
  #record(record: object, isCopied: boolean): object {
    const hasToJson = isCopied && typeof Reflect.get(record, "toJSON") === "function";
    let changed: Record<string, unknown> | null = hasToJson
      ? { ...record, toJSON: undefined }
      : null;
    for (const key of Object.keys(record)) {
      const value: unknown = Reflect.get(record, key);
      const shown = this.of(value, key);
      if (shown !== value) changed ??= { ...record };
      if (changed === null || shown === value) continue;
      // Plain assignment of "__proto__" would set the prototype and lose the value.
      if (key === "__proto__") Object.defineProperty(changed, key, { value: shown });
      else changed[key] = shown;
    }
    return changed ?? record;
  }
}

class TooLargeError extends Error {
  override readonly name = "TooLargeError";
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  if (value instanceof RegExp) return value.toString();
  if (value instanceof Error) return { name: value.name, message: value.message };
  return value;
}

function isBinary(value: unknown): value is ArrayBufferView | ArrayBuffer {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}

function describeBytes(value: ArrayBufferView | ArrayBuffer): string {
  return `[${value.constructor.name} of ${value.byteLength} bytes]`;
}

/** The root of a run's trace, which has the run's own id. */
export type RootRun = {
  id: string;
  trace_id: string;
  dotted_order: string;
  /** ISO 8601 with microseconds. */
  start_time: string;
};

/**
 * Returns the root of a run's trace. It is the same for every attempt of a run, so that all attempts form one
 * trace: `startedAt` is the start of the first attempt, in milliseconds since the epoch. LangChain's tracers
 * have millisecond precision only, and number the runs of a trace in the remaining three digits; the root is
 * number 1.
 */
export function rootRun(runId: string, startedAt: number): RootRun {
  const start_time = new Date(startedAt).toISOString().replace("Z", "001Z");
  const dotted_order = `${start_time.replaceAll(/[-:.]/g, "")}${runId}`;
  return { id: runId, trace_id: runId, dotted_order, start_time };
}
