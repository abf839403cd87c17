import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { describe, test } from "vitest";
import {
  encodeExportResponse,
  summarizeReasons,
} from "../../../../../src/tracing/ingest/otlp/export-response.ts";

const PARTIAL = { rejectedSpans: 300, errorMessage: "span é: no" };

describe("encodeExportResponse", () => {
  test("is empty when all went well", ({ expect }) => {
    expect(encodeExportResponse("protobuf")).toEqual({
      contentType: "application/x-protobuf",
      body: new Uint8Array(),
    });
    expect(encodeExportResponse("json")).toEqual({
      contentType: "application/json",
      body: new TextEncoder().encode("{}"),
    });
  });

  test("tells an exporter what was rejected", ({ expect }) => {
    const protobuf = encodeExportResponse("protobuf", PARTIAL).body;
    const { partialSuccess } = ProtobufTraceSerializer.deserializeResponse(protobuf);
    expect(Number(partialSuccess?.rejectedSpans)).toBe(300);
    expect(partialSuccess?.errorMessage).toBe("span é: no");
    const json = encodeExportResponse("json", PARTIAL).body;
    expect(JsonTraceSerializer.deserializeResponse(json)).toEqual({
      partialSuccess: { rejectedSpans: "300", errorMessage: "span é: no" },
    });
  });

  test("a warning rejects nothing", ({ expect }) => {
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
