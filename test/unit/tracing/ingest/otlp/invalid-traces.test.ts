import { SpanStatusCode } from "@opentelemetry/api";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, test } from "vitest";
import { decodeTraces } from "../../../../../src/tracing/ingest/otlp/wire-format.ts";
import { mapSpans } from "../../../../../src/tracing/ingest/otlp/map-spans.ts";
import { InvalidTraces } from "../../../../../src/tracing/ingest/otlp/otlp-error.ts";
import { protobufRequest, ROOT_SPAN, TRACE } from "./support/otlp-requests.ts";

const SAMPLE = protobufRequest([
  {
    parentSpanId: "00f067aa0ba902b7",
    attributes: { "gen_ai.prompt.0.role": "user", list: ["a", "b"], n: 7, d: 0.5, b: true },
    events: [{ name: "exception", attributes: { "exception.message": "m" } }],
    status: { code: SpanStatusCode.ERROR, message: "broken" },
  },
]);

/** Returns undefined if the bytes are refused properly. Any other error is thrown. */
function spansOf(bytes: Uint8Array): number | undefined {
  try {
    const spans = decodeTraces(bytes, "application/x-protobuf");
    mapSpans(spans, {});
    return spans.length;
  } catch (error) {
    if (error instanceof InvalidTraces) return undefined;
    throw error;
  }
}

function message(bytes: Uint8Array, contentType = "application/x-protobuf"): string {
  try {
    decodeTraces(bytes, contentType);
  } catch (error) {
    if (error instanceof InvalidTraces) return error.message;
    throw error;
  }
  return "nothing was wrong";
}

function jsonMessage(body: string): string {
  return message(new TextEncoder().encode(body), "application/json");
}

/** Wraps bytes in messages, each as the field with the given number. */
function within(fields: readonly number[], inner: Uint8Array): Uint8Array {
  let bytes: Uint8Array = inner;
  for (const field of fields.toReversed()) {
    bytes = new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
  }
  return bytes;
}

/** The field numbers from the request down to a span. */
const SPAN = [1, 2, 2];

describe("invalid protobuf", () => {
  test("is refused when it is cut off, except between two resources", ({ expect }) => {
    for (let length = 1; length < SAMPLE.length; length += 1) {
      expect(spansOf(SAMPLE.subarray(0, length))).toBe(undefined);
    }
    expect(spansOf(SAMPLE)).toBe(1);
  });

  test("reports where a length is too large", ({ expect }) => {
    const prefix = "the body is not an OTLP trace export request: ";
    const huge = Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f);
    expect(message(huge)).toBe(`${prefix}ResourceSpans is cut off`);
    expect(message(within(SPAN, Uint8Array.of(0x2a, 0x05, 0x61)))).toBe(`${prefix}premature EOF`);
    const beyond = within([1], Uint8Array.of(0x12, 0x02, 0x12, 0x05));
    expect(message(Uint8Array.of(...beyond, 1, 2, 3, 4, 5, 6, 7))).toBe(`${prefix}Span is cut off`);
    const name = within(SPAN, Uint8Array.of(0x2a, 0x02, 0x61));
    const padded = Uint8Array.of(...name, 0x0a, 0x00);
    expect(message(padded)).toBe(`${prefix}Span ends within field 5`);
  });

  test.for([
    ["trace_id as varint", [0x08, 0x01], "Span has field 1 with wire type 0, not 2"],
    ["start as bytes", [0x3a, 0x00], "Span has field 7 with wire type 2, not 1"],
    ["attribute as group", [0x4b, 0x4c], "Span has field 9 with wire type 3, not 2"],
    ["field 0", [0x00], "illegal tag: field no 0 wire type 0"],
    ["wire type 7", [0x0f], "illegal tag: field no 1 wire type 7"],
    ["a group without end", [0xf3, 0x07], "premature EOF"],
    ["the end of no group", [0xf4, 0x07], "cant skip wire type 4"],
    ["an endless varint", [0x50, ...Array<number>(11).fill(0xff)], "invalid varint"],
  ] as const)("is refused: %s", ([, span, reason], { expect }) => {
    expect(message(within(SPAN, Uint8Array.from(span)))).toBe(
      `the body is not an OTLP trace export request: ${reason}`,
    );
  });

  test("is refused if it is of another signal", ({ expect }) => {
    // In metrics, the name is where a span has its trace id, and the data where it has its events.
    const metric = new BinaryWriter()
      .tag(1, WireType.LengthDelimited)
      .string("http.requests")
      .finish();
    const spans = decodeTraces(within(SPAN, metric), "application/x-protobuf");
    expect(mapSpans(spans, {}).rejected.map(({ message }) => message)).toEqual([
      "span  of trace 687474702e7265717565737473: trace_id should have 16 bytes, not 13",
    ]);
  });

  test("is read or refused for any bytes", ({ expect }) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        spansOf(bytes);
        spansOf(within(SPAN, bytes));
      }),
      { numRuns: 500 },
    );
    expect(spansOf(SAMPLE)).toBe(1);
  });

  test("is read or refused for a request with changed bytes", ({ expect }) => {
    const change = fc.tuple(fc.nat(SAMPLE.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), (changes) => {
        const bytes = Uint8Array.from(SAMPLE);
        for (const [index, value] of changes) bytes[index] = value;
        spansOf(bytes);
      }),
      { numRuns: 1000 },
    );
    expect(spansOf(SAMPLE)).toBe(1);
  });

  test("loses only the characters that are not UTF-8", ({ expect }) => {
    const name = within(SPAN, Uint8Array.of(0x2a, 0x03, 0x61, 0xff, 0x62));
    expect(decodeTraces(name, "application/x-protobuf")[0]?.name).toBe("a\u{FFFD}b");
  });
});

describe("nesting", () => {
  function nestedList(levels: number): Uint8Array {
    let value: Uint8Array = new BinaryWriter().tag(2, WireType.Varint).bool(true).finish();
    // AnyValue.array_value, ArrayValue.values
    for (let level = 0; level < levels; level += 1) value = within([5, 1], value);
    return within([...SPAN, 9, 2], value);
  }

  function nestedMap(levels: number): string {
    const attribute = '{"key":"k","value":';
    const value = `${'{"kvlistValue":{"values":[{"key":"k","value":'.repeat(levels)}{}${"}]}}".repeat(levels)}`;
    return `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[${attribute}${value}}]}]}]}]}`;
  }

  test("is read up to 100 levels", ({ expect }) => {
    const limit = "the value of an attribute is nested deeper than 100 levels";
    expect(spansOf(nestedList(100))).toBe(1);
    expect(message(nestedList(101))).toContain(limit);
    expect(message(nestedList(3000))).toContain(limit);
    expect(jsonMessage(nestedMap(100))).toBe("nothing was wrong");
    expect(jsonMessage(nestedMap(101))).toBe(limit);
    expect(jsonMessage(nestedMap(50_000))).toBe(limit);
  });

  test("of unknown groups is refused, and not followed", ({ expect }) => {
    const groups = new Uint8Array(100_000).fill(0xa3);
    for (let index = 1; index < groups.length; index += 2) groups[index] = 0x06;
    expect(message(within(SPAN, groups))).toContain("maximum recursion depth reached");
  });
});

describe("invalid JSON", () => {
  const span = (fields: string): string =>
    `{"resourceSpans":[{"scopeSpans":[{"spans":[{}, {${fields}}]}]}]}`;
  const path = "resourceSpans[0].scopeSpans[0].spans[1]";

  test.for([
    ["{", "the body is not JSON: "],
    ["[]", "the body should be an object"],
    ['"x"', "the body should be an object"],
    ['{"resourceSpans":{}}', "resourceSpans should be a list"],
    ['{"resourceSpans":[1]}', "resourceSpans[0] should be an object"],
    [span('"traceId":"xyz"'), `${path}.traceId should be hexadecimal`],
    [span('"traceId":7'), `${path}.traceId should be a string`],
    [span('"startTimeUnixNano":"1e9"'), `${path}.startTimeUnixNano should be an integer`],
    [span('"startTimeUnixNano":1.5'), `${path}.startTimeUnixNano should be an integer`],
    [
      span('"endTimeUnixNano":"-1"'),
      `${path}.endTimeUnixNano should be a number of nanoseconds since 1970`,
    ],
    [span('"attributes":[null]'), `${path}.attributes[0] should be an object`],
    [span('"attributes":[{"key":1}]'), `${path}.attributes[0].key should be a string`],
    [
      span('"attributes":[{"key":"a","value":{"boolValue":"true"}}]'),
      `${path}.attributes[0].value.boolValue should be true or false`,
    ],
    [
      span('"attributes":[{"key":"a","value":{"doubleValue":"x"}}]'),
      `${path}.attributes[0].value.doubleValue should be a number`,
    ],
    [
      span('"attributes":[{"key":"a","value":{"bytesValue":"*"}}]'),
      `${path}.attributes[0].value.bytesValue should be base64`,
    ],
  ])("is refused: %s", ([body = "", reason = ""], { expect }) => {
    const text = jsonMessage(body);
    if (reason.endsWith(": ")) expect(text.startsWith(reason)).toBe(true);
    else expect(text).toBe(reason);
  });

  test("is refused if it is not UTF-8", ({ expect }) => {
    expect(message(Uint8Array.of(0x7b, 0xff, 0x7d), "application/json")).toBe(
      "the body is not UTF-8",
    );
  });

  test("is read or refused for any JSON", ({ expect }) => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        jsonMessage(json);
        jsonMessage(`{"resourceSpans":[${json}]}`);
        jsonMessage(span(`"attributes":[${json}],"events":${json}`));
      }),
    );
    expect(jsonMessage(span(`"spanId":"${ROOT_SPAN}","traceId":"${TRACE}"`))).toBe(
      "nothing was wrong",
    );
  });
});

test("more than 20000 spans in one request are refused", ({ expect }) => {
  const one = within([2], new Uint8Array());
  const spans = (count: number): Uint8Array => {
    const scope = new Uint8Array(one.length * count);
    for (let index = 0; index < count; index += 1) scope.set(one, index * one.length);
    return within([1, 2], scope);
  };
  expect(spansOf(spans(20_000))).toBe(20_000);
  expect(message(spans(20_001))).toContain("there are more than 20000 spans in one request");
});
