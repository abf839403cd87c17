import { decodeJsonTraces } from "./json-traces.ts";
import { decodeProtobufTraces } from "./protobuf-traces.ts";
import type { Span } from "./span.ts";
import { UnsupportedContentType } from "./otlp-error.ts";

/**
 * Decodes an OTLP trace export request. Throws InvalidTraces for a body that is none, and
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

export type OtlpEncoding = "protobuf" | "json";

/** The encoding that a `Content-Type` names; throws UnsupportedContentType. */
export function otlpEncoding(contentType: string): OtlpEncoding {
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (type.includes("protobuf") || type.endsWith("+proto")) return "protobuf";
  if (type.includes("json")) return "json";
  throw new UnsupportedContentType(
    `Content-Type should be application/x-protobuf or application/json, not ${JSON.stringify(contentType)}`,
  );
}
