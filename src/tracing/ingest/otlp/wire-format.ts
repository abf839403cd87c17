import { decodeJsonTraces } from "./json-traces.ts";
import { decodeProtobufTraces } from "./protobuf-traces.ts";
import type { Span } from "./span.ts";
import { UnsupportedContentType } from "./otlp-error.ts";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/**
 * Decodes an OTLP trace export request. Throws InvalidTraces for a body that is not such a request, and
 * UnsupportedContentType.
 */
export function decodeTraces(bytes: Uint8Array, contentType: string): Span[] {
  switch (otlpEncoding(contentType)) {
    case "protobuf":
      return decodeProtobufTraces(bytes);
    case "json":
      return decodeJsonTraces(bytes);
  }
}

type OtlpEncoding = "protobuf" | "json";

/** Returns the encoding that a `Content-Type` names. Throws UnsupportedContentType. */
export function otlpEncoding(contentType: string): OtlpEncoding {
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (type.includes("protobuf") || type.endsWith("+proto")) return "protobuf";
  if (type.includes("json")) return "json";
  throw new UnsupportedContentType(
    `Content-Type should be application/x-protobuf or application/json, not ${JSON.stringify(contentType)}`,
  );
}

/** If `rejectedSpans` is 0, the message is a warning about spans that were accepted. */
export type PartialSuccess = { rejectedSpans: number; errorMessage: string };

type ExportResponse = { contentType: string; body: Uint8Array };

const MAX_REASONS = 10;

const MAX_REASON_CHARS = 500;

/** Encodes an ExportTraceServiceResponse; without `partialSuccess`, everything was accepted. */
export function encodeExportResponse(
  encoding: OtlpEncoding,
  partialSuccess?: PartialSuccess,
): ExportResponse {
  switch (encoding) {
    case "protobuf":
      return { contentType: "application/x-protobuf", body: protobufBody(partialSuccess) };
    case "json":
      return { contentType: "application/json", body: jsonBody(partialSuccess) };
  }
}

/** Joins reasons to one text for `errorMessage`, and shortens them if there are many. */
export function summarizeReasons(reasons: readonly string[]): string {
  const shown = reasons.slice(0, MAX_REASONS).map((reason) => reason.slice(0, MAX_REASON_CHARS));
  const rest = reasons.length - shown.length;
  return rest === 0 ? shown.join("; ") : `${shown.join("; ")}; and ${rest} more`;
}

function protobufBody(partialSuccess: PartialSuccess | undefined): Uint8Array {
  const writer = new BinaryWriter();
  if (partialSuccess !== undefined) {
    const { rejectedSpans, errorMessage } = partialSuccess;
    writer.tag(1, WireType.LengthDelimited).fork();
    if (rejectedSpans !== 0) writer.tag(1, WireType.Varint).int64(rejectedSpans);
    if (errorMessage !== "") writer.tag(2, WireType.LengthDelimited).string(errorMessage);
    writer.join();
  }
  return writer.finish();
}

function jsonBody(partialSuccess: PartialSuccess | undefined): Uint8Array {
  const body =
    partialSuccess === undefined
      ? {}
      : {
          partialSuccess: {
            // The JSON mapping of protobuf writes 64-bit integers as text.
            rejectedSpans: String(partialSuccess.rejectedSpans),
            errorMessage: partialSuccess.errorMessage,
          },
        };
  return new TextEncoder().encode(JSON.stringify(body));
}
