import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import type { Micros } from "../../../lib/time.ts";
import { InvalidJson, parseUnchecked } from "../decode/json-value.ts";
import { checkSpanCount, checkValueDepth, InvalidTraces } from "./otlp-error.ts";
import {
  type Attributes,
  type AttributeValue,
  doubleValue,
  integerValue,
  microsOf,
  type Span,
  type SpanEvent,
} from "./span.ts";

/**
 * Reads an ExportTraceServiceRequest in JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding):
 * the JSON mapping of protobuf with hexadecimal ids. The base64 ids of the plain mapping are accepted too,
 * because no text can be both. Throws InvalidTraces.
 */
export function decodeJsonTraces(bytes: Uint8Array): Span[] {
  const spans: Span[] = [];
  const request = new JsonMessage(parse(bytes), "the body");
  for (const resourceSpans of request.messages("resourceSpans")) {
    const resource = attributesOf(resourceSpans.message("resource"), 0);
    for (const scopeSpans of resourceSpans.messages("scopeSpans")) {
      const scope = scopeSpans.message("scope");
      const source = {
        resource,
        scopeName: scope.text("name"),
        scopeVersion: scope.text("version"),
        scopeAttributes: attributesOf(scope, 0),
      };
      for (const span of scopeSpans.messages("spans")) {
        spans.push({ source, ...spanOf(span) });
        checkSpanCount(spans.length);
      }
    }
  }
  return spans;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseUnchecked(bytes).value;
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error;
    throw new InvalidTraces(`the body ${error.message}`);
  }
}

function spanOf(span: JsonMessage): Omit<Span, "source"> {
  const status = span.message("status");
  const code = status.value("code");
  return {
    traceId: idOf(span, "traceId"),
    spanId: idOf(span, "spanId"),
    parentSpanId: idOf(span, "parentSpanId"),
    name: span.text("name"),
    startTime: timeOf(span, "startTimeUnixNano"),
    endTime: timeOf(span, "endTimeUnixNano"),
    attributes: attributesOf(span, 0),
    droppedAttributes: Number(span.integer("droppedAttributesCount") ?? 0n),
    events: span.messages("events").map(eventOf),
    isError: code === 2 || code === "STATUS_CODE_ERROR",
    statusMessage: status.text("message"),
  };
}

function eventOf(event: JsonMessage): SpanEvent {
  return {
    name: event.text("name"),
    time: timeOf(event, "timeUnixNano"),
    attributes: attributesOf(event, 0),
  };
}

function attributesOf(message: JsonMessage, depth: number): Attributes {
  return keyValues(message.messages("attributes"), depth);
}

function keyValues(pairs: readonly JsonMessage[], depth: number): Map<string, AttributeValue> {
  const values = new Map<string, AttributeValue>();
  for (const pair of pairs) values.set(pair.text("key"), anyValue(pair.message("value"), depth));
  return values;
}

function anyValue(value: JsonMessage, depth: number): AttributeValue {
  checkValueDepth(depth);
  if (value.has("stringValue")) return value.text("stringValue");
  if (value.has("boolValue")) return value.bool("boolValue");
  if (value.has("intValue")) return integerValue(value.integer("intValue") ?? 0n);
  if (value.has("doubleValue")) return doubleValue(value.double("doubleValue"));
  if (value.has("arrayValue")) {
    const items = value.message("arrayValue").messages("values");
    return items.map((item) => anyValue(item, depth + 1));
  }
  if (value.has("kvlistValue")) {
    const pairs = value.message("kvlistValue").messages("values");
    return Object.fromEntries(keyValues(pairs, depth + 1));
  }
  if (value.has("bytesValue")) {
    const bytes = bytesOf(value.text("bytesValue"));
    if (bytes === null) throw value.invalid("bytesValue", "base64");
    return base64Encode(bytes);
  }
  return null;
}

function timeOf(message: JsonMessage, field: string): Micros {
  const nanos = message.integer(field) ?? 0n;
  if (nanos < 0n) throw message.invalid(field, "a number of nanoseconds since 1970");
  return microsOf(nanos);
}

function idOf(message: JsonMessage, field: string): string {
  const text = message.text(field);
  if (/^[0-9a-f]*$/i.test(text)) return text.toLowerCase();
  const bytes = text.endsWith("=") ? bytesOf(text) : null;
  if (bytes === null) throw message.invalid(field, "hexadecimal");
  return Buffer.from(bytes).toString("hex");
}

function bytesOf(base64: string): Uint8Array | null {
  try {
    return base64Decode(base64);
  } catch {
    return null;
  }
}

const NUMBER_WORDS = new Set(["NaN", "Infinity", "-Infinity"]);

/**
 * A message in the JSON mapping of protobuf. Fields are requested by their lowerCamelCase names and are also
 * found by the names of the .proto file. Null and the default value are equivalent to absent. Throws
 * InvalidTraces if a value does not have the requested type. Unknown fields are ignored.
 */
class JsonMessage {
  readonly #fields: Record<string, unknown>;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new InvalidTraces(`${path} should be an object`);
    }
    this.#fields = value as Record<string, unknown>;
    this.#path = path;
  }

  value(field: string): unknown {
    if (Object.hasOwn(this.#fields, field)) return this.#fields[field] ?? undefined;
    const original = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return Object.hasOwn(this.#fields, original)
      ? (this.#fields[original] ?? undefined)
      : undefined;
  }

  has(field: string): boolean {
    return this.value(field) !== undefined;
  }

  message(field: string): JsonMessage {
    return new JsonMessage(this.value(field) ?? {}, this.#pathOf(field));
  }

  messages(field: string): JsonMessage[] {
    const value = this.value(field);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.invalid(field, "a list");
    return value.map(
      (item: unknown, index) => new JsonMessage(item, `${this.#pathOf(field)}[${index}]`),
    );
  }

  text(field: string): string {
    const value = this.value(field) ?? "";
    if (typeof value !== "string") throw this.invalid(field, "a string");
    return value;
  }

  bool(field: string): boolean {
    const value = this.value(field) ?? false;
    if (typeof value !== "boolean") throw this.invalid(field, "true or false");
    return value;
  }

  double(field: string): number {
    const value = this.value(field) ?? 0;
    if (typeof value === "number") return value;
    const number = Number(value);
    const isNumber =
      typeof value === "string" &&
      value.trim() !== "" &&
      (Number.isFinite(number) || NUMBER_WORDS.has(value));
    if (!isNumber) throw this.invalid(field, "a number");
    return number;
  }

  /** Accepts a number or a text of digits, because a number cannot hold 64 bits. */
  integer(field: string): bigint | undefined {
    const value = this.value(field);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isInteger(value)) return BigInt(value);
    // 64-bit integers have at most 20 characters; a BigInt of megabytes would take seconds.
    if (typeof value === "string" && /^-?\d{1,20}$/.test(value)) return BigInt(value);
    throw this.invalid(field, "an integer");
  }

  invalid(field: string, expected: string): InvalidTraces {
    return new InvalidTraces(`${this.#pathOf(field)} should be ${expected}`);
  }

  #pathOf(field: string): string {
    return this.#path === "the body" ? field : `${this.#path}.${field}`;
  }
}
