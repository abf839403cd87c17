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
  const ancestors: unknown[] = [];
  let chars = 0;
  function replace(this: unknown, key: string, projected: unknown): unknown {
    // This reads the value before `toJSON`, because that of a Buffer has already made a list of numbers.
    const original: unknown = Reflect.get(Object(this), key);
    const shown = isBinary(original) ? describeBytes(original) : plain(projected);
    chars += key.length + (typeof shown === "string" ? shown.length : 4);
    if (chars > MAX_VALUE_CHARS) throw new TooLargeError();
    if (typeof shown !== "object" || shown === null) return shown;
    while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
    if (ancestors.includes(shown)) return { result: "[Circular]" };
    ancestors.push(shown);
    return shown;
  }
  try {
    return JSON.stringify(value, replace);
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
