import { decodeJsonTraces } from "./json-traces.ts";
import { otlpEncoding } from "./otlp-encoding.ts";
import { decodeProtobufTraces } from "./protobuf-traces.ts";
import type { Span } from "./span.ts";

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
