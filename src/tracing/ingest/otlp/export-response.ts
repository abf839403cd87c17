import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { OtlpEncoding } from "./decode-traces.ts";

/** With `rejectedSpans` 0 the message is a warning about spans that were accepted. */
export type PartialSuccess = { rejectedSpans: number; errorMessage: string };

export type ExportResponse = { contentType: string; body: Uint8Array };

const MAX_REASONS = 10;

const MAX_REASON_CHARS = 500;

/** An ExportTraceServiceResponse; without `partialSuccess` everything was accepted. */
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

/** One text of many reasons, for `errorMessage`. */
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
