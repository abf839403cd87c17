import { deepStrictEqual } from "node:assert";
import { type Attributes, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { decodeTraces } from "../../../../../../src/tracing/ingest/otlp/wire-format.ts";
import {
  type MapOptions,
  type MappedSpans,
  mapSpans,
} from "../../../../../../src/tracing/ingest/otlp/map-spans.ts";
import type { PlacedSpanRun } from "../../../../../../src/tracing/ingest/otlp/place-spans.ts";
import type { Span } from "../../../../../../src/tracing/ingest/otlp/span.ts";

export const TRACE = "0af7651916cd43dd8448eb211c80319c";
export const TRACE_UUID = "0af76519-16cd-43dd-8448-eb211c80319c";
export const ROOT_SPAN = "b7ad6b7169203331";

/** 2026-08-01T12:00:00Z. */
export const START_SECONDS = 1_785_585_600;

export type SpanInit = {
  name?: string;
  traceId?: string;
  spanId?: string;
  parentSpanId?: string;
  /** Nanoseconds after START_SECONDS. */
  startNanos?: number;
  attributes?: Attributes;
  events?: { name: string; attributes?: Attributes }[];
  status?: { code: SpanStatusCode; message?: string };
  resource?: Resource;
};

type Resource = ReadableSpan["resource"];

export function resource(attributes: Attributes): Resource {
  return {
    attributes,
    merge: () => {
      throw new Error("not merged");
    },
    getRawAttributes: () => Object.entries(attributes),
  };
}

const NO_RESOURCE = resource({});

function readableSpan(init: SpanInit = {}): ReadableSpan {
  const traceId = init.traceId ?? TRACE;
  const context = (spanId: string) => ({ traceId, spanId, traceFlags: 1 });
  return {
    name: init.name ?? "span",
    kind: SpanKind.INTERNAL,
    spanContext: () => context(init.spanId ?? ROOT_SPAN),
    ...(init.parentSpanId !== undefined && { parentSpanContext: context(init.parentSpanId) }),
    startTime: [START_SECONDS, init.startNanos ?? 123_456_789],
    endTime: [START_SECONDS + 2, 5000],
    status: init.status ?? { code: SpanStatusCode.UNSET },
    attributes: init.attributes ?? {},
    links: [],
    events: (init.events ?? []).map(({ name, attributes = {} }) => ({
      name,
      attributes,
      time: [START_SECONDS + 1, 1000],
    })),
    duration: [1, 0],
    ended: true,
    resource: init.resource ?? NO_RESOURCE,
    instrumentationScope: { name: "tests", version: "1.2.3" },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

export function protobufRequest(inits: readonly SpanInit[]): Uint8Array {
  return bytesOf(ProtobufTraceSerializer.serializeRequest(inits.map(readableSpan)));
}

export function jsonRequest(inits: readonly SpanInit[]): Uint8Array {
  return bytesOf(JsonTraceSerializer.serializeRequest(inits.map(readableSpan)));
}

/** Decodes both encodings of the request, which must be equal. */
export function decoded(...inits: SpanInit[]): Span[] {
  const spans = decodeTraces(protobufRequest(inits), "application/x-protobuf");
  deepStrictEqual(decodeTraces(jsonRequest(inits), "application/json"), spans);
  return spans;
}

export function mapped(inits: readonly SpanInit[], options: MapOptions = {}): MappedSpans {
  return mapSpans(decoded(...inits), options);
}

/** Maps the run of a request with one span. */
export function mappedRun(init: SpanInit, options: MapOptions = {}): PlacedSpanRun {
  const { runs, rejected, warnings, orphans } = mapped([init], options);
  deepStrictEqual({ rejected, warnings, orphans }, { rejected: [], warnings: [], orphans: [] });
  const [first] = runs;
  if (first === undefined) throw new Error("there is no run");
  return first.run;
}

export function runWith(attributes: Attributes): PlacedSpanRun {
  return mappedRun({ attributes });
}

export function metadataWith(attributes: Attributes): Record<string, unknown> {
  return metadataOf(runWith(attributes));
}

/** Returns the metadata without the values that all runs of these requests have. */
export function metadataOf({ extra }: PlacedSpanRun): Record<string, unknown> {
  const {
    OTEL_TRACE_ID: _trace,
    OTEL_SPAN_ID: _span,
    "otel.scope.name": _name,
    "otel.scope.version": _version,
    ...metadata
  } = extra["metadata"] as Record<string, unknown>;
  return metadata;
}

function bytesOf(bytes: Uint8Array | undefined): Uint8Array {
  if (bytes === undefined) throw new Error("nothing was serialized");
  return bytes;
}
