import { base64Encode } from "@bufbuild/protobuf/wire";
import { checkSpanCount, checkValueDepth, InvalidTraces } from "./otlp-error.ts";
import { ProtobufReader } from "./protobuf-reader.ts";
import {
  type AttributeValue,
  doubleValue,
  integerValue,
  microsOf,
  type Span,
  type SpanEvent,
  type SpanSource,
} from "./span.ts";

const STATUS_ERROR = 2;

type OpenSource = SpanSource & {
  resource: Map<string, AttributeValue>;
  scopeAttributes: Map<string, AttributeValue>;
};

/**
 * Reads opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest. The field numbers are those of
 * https://github.com/open-telemetry/opentelemetry-proto. Throws InvalidTraces.
 */
export function decodeProtobufTraces(bytes: Uint8Array): Span[] {
  try {
    return readRequest(new ProtobufReader(bytes));
  } catch (error) {
    // BinaryReader throws plain errors, and RangeErrors beyond the end.
    if (!(error instanceof Error) || error instanceof TypeError) throw error;
    throw new InvalidTraces(`the body is not an OTLP trace export request: ${error.message}`);
  }
}

function readRequest(reader: ProtobufReader): Span[] {
  const spans: Span[] = [];
  for (const field of reader.fields("ExportTraceServiceRequest")) {
    if (field === 1) readResourceSpans(reader, spans);
    else reader.skip();
  }
  return spans;
}

function readResourceSpans(reader: ProtobufReader, spans: Span[]): void {
  const resource = new Map<string, AttributeValue>();
  for (const field of reader.message("ResourceSpans")) {
    if (field === 1) {
      for (const field of reader.message("Resource")) {
        if (field === 1) readKeyValue(reader, resource, 0);
        else reader.skip();
      }
    } else if (field === 2) {
      readScopeSpans(reader, resource, spans);
    } else {
      reader.skip();
    }
  }
}

/** Fields come in any order, so the maps may be filled after the spans that refer to them. */
function readScopeSpans(
  reader: ProtobufReader,
  resource: Map<string, AttributeValue>,
  spans: Span[],
): void {
  const source: OpenSource = {
    resource,
    scopeName: "",
    scopeVersion: "",
    scopeAttributes: new Map(),
  };
  for (const field of reader.message("ScopeSpans")) {
    if (field === 1) {
      readScope(reader, source);
    } else if (field === 2) {
      spans.push(readSpan(reader, source));
      checkSpanCount(spans.length);
    } else {
      reader.skip();
    }
  }
}

function readScope(reader: ProtobufReader, source: OpenSource): void {
  for (const field of reader.message("InstrumentationScope")) {
    if (field === 1) source.scopeName = reader.text();
    else if (field === 2) source.scopeVersion = reader.text();
    else if (field === 3) readKeyValue(reader, source.scopeAttributes, 0);
    else reader.skip();
  }
}

function readSpan(reader: ProtobufReader, source: SpanSource): Span {
  const attributes = new Map<string, AttributeValue>();
  const span: Span = {
    source,
    traceId: "",
    spanId: "",
    parentSpanId: "",
    name: "",
    startTime: 0,
    endTime: 0,
    attributes,
    droppedAttributes: 0,
    events: [],
    isError: false,
    statusMessage: "",
  };
  for (const field of reader.message("Span")) {
    switch (field) {
      case 1:
        span.traceId = hexOf(reader.bytes());
        break;
      case 2:
        span.spanId = hexOf(reader.bytes());
        break;
      case 4:
        span.parentSpanId = hexOf(reader.bytes());
        break;
      case 5:
        span.name = reader.text();
        break;
      case 7:
        span.startTime = microsOf(reader.fixed64());
        break;
      case 8:
        span.endTime = microsOf(reader.fixed64());
        break;
      case 9:
        readKeyValue(reader, attributes, 0);
        break;
      case 10:
        span.droppedAttributes = reader.uint32();
        break;
      case 11:
        span.events.push(readEvent(reader));
        break;
      case 15:
        readStatus(reader, span);
        break;
      default:
        reader.skip();
    }
  }
  return span;
}

function readEvent(reader: ProtobufReader): SpanEvent {
  const attributes = new Map<string, AttributeValue>();
  const event: SpanEvent = { name: "", time: 0, attributes };
  for (const field of reader.message("Event")) {
    if (field === 1) event.time = microsOf(reader.fixed64());
    else if (field === 2) event.name = reader.text();
    else if (field === 3) readKeyValue(reader, attributes, 0);
    else reader.skip();
  }
  return event;
}

function readStatus(reader: ProtobufReader, span: Span): void {
  for (const field of reader.message("Status")) {
    if (field === 2) span.statusMessage = reader.text();
    else if (field === 3) span.isError = reader.uint32() === STATUS_ERROR;
    else reader.skip();
  }
}

function readKeyValue(
  reader: ProtobufReader,
  target: Map<string, AttributeValue>,
  depth: number,
): void {
  let key = "";
  let value: AttributeValue = null;
  for (const field of reader.message("KeyValue")) {
    if (field === 1) key = reader.text();
    else if (field === 2) value = readAnyValue(reader, depth);
    else reader.skip();
  }
  target.set(key, value);
}

function readAnyValue(reader: ProtobufReader, depth: number): AttributeValue {
  checkValueDepth(depth);
  let value: AttributeValue = null;
  for (const field of reader.message("AnyValue")) {
    switch (field) {
      case 1:
        value = reader.text();
        break;
      case 2:
        value = reader.bool();
        break;
      case 3:
        value = integerValue(reader.int64());
        break;
      case 4:
        value = doubleValue(reader.double());
        break;
      case 5:
        value = readList(reader, depth);
        break;
      case 6:
        value = readMap(reader, depth);
        break;
      case 7:
        value = base64Encode(reader.bytes());
        break;
      default:
        reader.skip();
    }
  }
  return value;
}

function readList(reader: ProtobufReader, depth: number): AttributeValue[] {
  const values: AttributeValue[] = [];
  for (const field of reader.message("ArrayValue")) {
    if (field === 1) values.push(readAnyValue(reader, depth + 1));
    else reader.skip();
  }
  return values;
}

function readMap(reader: ProtobufReader, depth: number): AttributeValue {
  const values = new Map<string, AttributeValue>();
  for (const field of reader.message("KeyValueList")) {
    if (field === 1) readKeyValue(reader, values, depth + 1);
    else reader.skip();
  }
  return Object.fromEntries(values);
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
