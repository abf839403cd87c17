import { SpanStatusCode } from "@opentelemetry/api";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, test } from "vitest";
import {
  decodeTraces,
  encodeExportResponse,
  summarizeReasons,
} from "../../../../../src/tracing/ingest/otlp/wire-format.ts";
import { UnsupportedContentType } from "../../../../../src/tracing/ingest/otlp/otlp-error.ts";
import type { Span } from "../../../../../src/tracing/ingest/otlp/span.ts";
import {
  decoded,
  jsonRequest,
  protobufRequest,
  resource,
  ROOT_SPAN,
  START_SECONDS,
  TRACE,
} from "./support/otlp-requests.ts";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";

function decodeJson(request: unknown): Span[] {
  return decodeTraces(new TextEncoder().encode(JSON.stringify(request)), "application/json");
}

function spanWith(fields: Record<string, unknown>): unknown {
  const ids = { traceId: TRACE, spanId: ROOT_SPAN };
  return { resourceSpans: [{ scopeSpans: [{ spans: [{ ...ids, ...fields }] }] }] };
}

function valueOf(value: unknown): unknown {
  const [span] = decodeJson(spanWith({ attributes: [{ key: "k", value }] }));
  return span?.attributes.get("k");
}

describe("decodeTraces", () => {
  test("reads a span with its resource, scope, events and status", ({ expect }) => {
    const [span] = decoded({
      name: "step",
      parentSpanId: "00f067aa0ba902b7",
      attributes: {
        text: "é",
        int: 42,
        double: 1.5,
        bool: true,
        list: ["a", "b"],
        numbers: [1, 2.5],
      },
      events: [{ name: "event", attributes: { n: -1 } }],
      status: { code: SpanStatusCode.ERROR, message: "broken" },
      resource: resource({ "service.name": "svc" }),
    });
    expect(span).toEqual({
      source: {
        resource: new Map([["service.name", "svc"]]),
        scopeName: "tests",
        scopeVersion: "1.2.3",
        scopeAttributes: new Map(),
      },
      traceId: TRACE,
      spanId: ROOT_SPAN,
      parentSpanId: "00f067aa0ba902b7",
      name: "step",
      startTime: START_SECONDS * 1e6 + 123_456,
      endTime: (START_SECONDS + 2) * 1e6 + 5,
      attributes: new Map<string, unknown>([
        ["text", "é"],
        ["int", 42],
        ["double", 1.5],
        ["bool", true],
        ["list", ["a", "b"]],
        ["numbers", [1, 2.5]],
      ]),
      droppedAttributes: 0,
      events: [
        { name: "event", time: (START_SECONDS + 1) * 1e6 + 1, attributes: new Map([["n", -1]]) },
      ],
      isError: true,
      statusMessage: "broken",
    });
  });

  test("keeps the spans of all resources and scopes, in order", ({ expect }) => {
    const spans = decoded(
      { name: "a", resource: resource({ n: 1 }) },
      { name: "b", resource: resource({ n: 2 }) },
      { name: "c" },
    );
    expect(spans.map(({ name, source }) => [name, source.resource.get("n")])).toEqual([
      ["a", 1],
      ["b", 2],
      ["c", undefined],
    ]);
  });

  test("accepts the resource and the scope after the spans", ({ expect }) => {
    const field = (number: number, bytes: Uint8Array): Uint8Array =>
      new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();
    const text = (value: string): Uint8Array => new TextEncoder().encode(value);
    const span = field(2, field(5, text("late")));
    const scope = field(1, field(1, text("lib")));
    const attribute = Uint8Array.of(...field(1, text("k")), ...field(2, field(1, text("v"))));
    const resource = field(1, field(1, attribute));
    const scopeSpans = field(2, Uint8Array.of(...span, ...scope));
    const request = field(1, Uint8Array.of(...scopeSpans, ...resource));
    expect(decodeTraces(request, "application/x-protobuf")[0]).toMatchObject({
      name: "late",
      source: { scopeName: "lib", resource: new Map([["k", "v"]]) },
    });
  });

  test("reads an empty body as a protobuf request without spans", ({ expect }) => {
    expect(decodeTraces(new Uint8Array(), "application/x-protobuf")).toEqual([]);
    expect(decodeJson({})).toEqual([]);
  });

  test.for([
    ["application/x-protobuf", "protobuf"],
    ["application/x-protobuf; charset=utf-8", "protobuf"],
    ["Application/Protobuf", "protobuf"],
    ["application/vnd.opentelemetry+proto", "protobuf"],
    ["application/json", "json"],
    ["application/json;charset=utf-8", "json"],
    ["application/problem+json", "json"],
  ])("treats %s as %s", ([contentType = "", encoding], { expect }) => {
    const request = encoding === "json" ? jsonRequest([{}]) : protobufRequest([{}]);
    expect(decodeTraces(request, contentType)).toHaveLength(1);
  });

  test.for(["text/plain", "", "application/xml; note=json", "multipart/form-data; boundary=proto"])(
    "refuses content type %j",
    (contentType, { expect }) => {
      expect(() => decodeTraces(new Uint8Array(), contentType)).toThrow(UnsupportedContentType);
    },
  );
});

describe("the JSON encoding", () => {
  test("has 64-bit integers as text or numbers", ({ expect }) => {
    const nanos = "1785585600123456789";
    const [span] = decodeJson(spanWith({ startTimeUnixNano: nanos, endTimeUnixNano: 2_000_000 }));
    expect([span?.startTime, span?.endTime]).toEqual([1_785_585_600_123_456, 2000]);
    expect(valueOf({ intValue: "-7" })).toBe(-7);
    expect(valueOf({ intValue: 7 })).toBe(7);
    expect(valueOf({ intValue: "9223372036854775807" })).toBe("9223372036854775807");
  });

  test("has values that JSON cannot represent in the form of protobuf's mapping", ({ expect }) => {
    expect(valueOf({ doubleValue: "NaN" })).toBe("NaN");
    expect(valueOf({ doubleValue: "-Infinity" })).toBe("-Infinity");
    expect(valueOf({ doubleValue: "1.25" })).toBe(1.25);
    expect(valueOf({ bytesValue: "-_8" })).toBe("+/8=");
    expect(valueOf({})).toBe(null);
  });

  test("can have lists and maps, also with a key that objects inherit", ({ expect }) => {
    const values = [
      { key: "__proto__", value: { stringValue: "own" } },
      { key: "list", value: { arrayValue: { values: [{ boolValue: false }, {}] } } },
      { key: "empty", value: { arrayValue: {} } },
    ];
    const value = valueOf({ kvlistValue: { values } });
    expect(JSON.stringify(value)).toBe('{"__proto__":"own","list":[false,null],"empty":[]}');
  });

  test("can have the names of the .proto file, and ignores unknown ones", ({ expect }) => {
    const span = { trace_id: TRACE, span_id: ROOT_SPAN, start_time_unix_nano: "1000", flags: {} };
    const [read] = decodeJson({ resource_spans: [{ scope_spans: [{ spans: [span] }] }], x: [] });
    expect([read?.traceId, read?.spanId, read?.startTime]).toEqual([TRACE, ROOT_SPAN, 1]);
  });

  test("has ids in hexadecimal of any case, or in base64", ({ expect }) => {
    const base64 = Buffer.from(TRACE, "hex").toString("base64");
    const spanId = Buffer.from(ROOT_SPAN, "hex").toString("base64");
    for (const traceId of [TRACE, TRACE.toUpperCase(), base64]) {
      expect(decodeJson(spanWith({ traceId, spanId }))[0]).toMatchObject({
        traceId: TRACE,
        spanId: ROOT_SPAN,
      });
    }
  });

  test("has a status code as a number or a name", ({ expect }) => {
    const isError = (code: unknown): unknown =>
      decodeJson(spanWith({ status: { code } }))[0]?.isError;
    expect([2, "STATUS_CODE_ERROR", 1, "STATUS_CODE_OK", null].map(isError)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

const PARTIAL = { rejectedSpans: 300, errorMessage: "span é: no" };

describe("encodeExportResponse", () => {
  test("returns an empty message after a success", ({ expect }) => {
    expect(encodeExportResponse("protobuf")).toEqual({
      contentType: "application/x-protobuf",
      body: new Uint8Array(),
    });
    expect(encodeExportResponse("json")).toEqual({
      contentType: "application/json",
      body: new TextEncoder().encode("{}"),
    });
  });

  test("tells an exporter which spans were rejected", ({ expect }) => {
    const protobuf = encodeExportResponse("protobuf", PARTIAL).body;
    const { partialSuccess } = ProtobufTraceSerializer.deserializeResponse(protobuf);
    expect(Number(partialSuccess?.rejectedSpans)).toBe(300);
    expect(partialSuccess?.errorMessage).toBe("span é: no");
    const json = encodeExportResponse("json", PARTIAL).body;
    expect(JsonTraceSerializer.deserializeResponse(json)).toEqual({
      partialSuccess: { rejectedSpans: "300", errorMessage: "span é: no" },
    });
  });

  test("returns a warning without rejected spans", ({ expect }) => {
    const warning = { rejectedSpans: 0, errorMessage: "w" };
    expect([...encodeExportResponse("protobuf", warning).body]).toEqual([10, 3, 18, 1, 119]);
  });
});

describe("summarizeReasons", () => {
  test("joins ten reasons, and counts the others", ({ expect }) => {
    const reasons = Array.from({ length: 12 }, (_, index) => `r${index}`);
    expect(summarizeReasons(reasons)).toBe("r0; r1; r2; r3; r4; r5; r6; r7; r8; r9; and 2 more");
    expect(summarizeReasons(reasons.slice(0, 2))).toBe("r0; r1");
    expect(summarizeReasons(["x".repeat(600)])).toHaveLength(500);
  });
});
