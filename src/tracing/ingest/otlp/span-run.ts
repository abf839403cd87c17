import type { JsonObject } from "../../../lib/json.ts";
import { microsToIso } from "../../../lib/time.ts";
import type { RunType } from "../../model/run-write.ts";
import {
  type Attributes,
  firstText,
  givenAttribute,
  listOf,
  objectOf,
  type Span,
  type SpanEvent,
  textAttribute,
} from "./span.ts";
import { spanPayloads, type SpanPayloads } from "./inputs-outputs.ts";
import { InvalidSpan } from "./otlp-error.ts";
import { spanMetadata } from "./span-metadata.ts";
import { isOpenInferenceTool, runTypeOf } from "./span-run-type.ts";
import { invocationParamsOf, usageMetadataOf } from "./model-call.ts";

/** A run as clients send it for creation, without its place in a tree. */
export type SpanRun = {
  id: string;
  name: string;
  run_type: RunType;
  start_time: string;
  end_time?: string;
  inputs?: JsonObject;
  outputs?: JsonObject;
  error?: string;
  events?: JsonObject[];
  extra: JsonObject;
  tags?: string[];
  session_id?: string;
  session_name?: string;
  reference_example_id?: string;
};

/** Converts a span to a run. `projectName` is for spans that do not name their project. Throws InvalidSpan. */
export function spanRun(span: Span, id: string, projectName: string | undefined): SpanRun {
  const { attributes } = span;
  checkTime(span.startTime, "start_time_unix_nano");
  if (span.startTime === 0) throw new InvalidSpan("start_time_unix_nano is required");
  checkTime(span.endTime, "end_time_unix_nano");
  const runType = runTypeOf(attributes);
  const payloads = spanPayloads(span, runType);
  const usage = usageMetadataOf(attributes);
  const error = errorOf(span);
  const events = eventsOf(span, payloads);
  const tags = tagsOf(attributes);
  const exampleId = textAttribute(attributes, "langsmith.reference_example_id");
  return {
    id,
    name: nameOf(span),
    run_type: runType,
    start_time: microsToIso(span.startTime),
    ...(span.endTime !== 0 && { end_time: microsToIso(span.endTime) }),
    ...(payloads.inputs !== undefined && { inputs: payloads.inputs }),
    ...(payloads.outputs !== undefined && { outputs: withUsage(payloads.outputs, usage) }),
    ...(error !== undefined && { error }),
    ...(events.length > 0 && { events }),
    extra: extraOf(span, usage),
    ...(tags.length > 0 && { tags }),
    ...projectOf(attributes, projectName),
    ...(exampleId !== undefined && { reference_example_id: exampleId }),
  };
}

/** Throws InvalidSpan for a time after 2255-06-05, beyond which microseconds are not exact. */
function checkTime(micros: number, field: string): void {
  if (micros <= Number.MAX_SAFE_INTEGER) return;
  throw new InvalidSpan(`${field} should be before the year 2255`);
}

function nameOf({ attributes, name }: Span): string {
  return (
    textAttribute(attributes, "langsmith.trace.name") ??
    textAttribute(attributes, "traceloop.entity.name") ??
    (isOpenInferenceTool(attributes) ? textAttribute(attributes, "tool.name") : undefined) ??
    name
  );
}

function extraOf(span: Span, usage: JsonObject | undefined): JsonObject {
  const params = invocationParamsOf(span.attributes);
  const runtime = objectOf(span.attributes.get("langsmith.span.runtime"));
  return {
    metadata: spanMetadata(span, usage),
    ...(params !== undefined && { invocation_params: params }),
    ...(runtime !== undefined && { runtime }),
  };
}

/** Adds the usage to outputs, unless they carry their own, which is more detailed. */
function withUsage(outputs: JsonObject, usage: JsonObject | undefined): JsonObject {
  if (usage === undefined || objectOf(outputs["usage_metadata"]) !== undefined) return outputs;
  return { ...outputs, usage_metadata: usage };
}

/** Returns the events that inputs, outputs and error do not represent already. */
function eventsOf(span: Span, { usedEvents }: SpanPayloads): JsonObject[] {
  const exception = exceptionOf(span);
  const events: JsonObject[] = [];
  for (const event of span.events) {
    if (event === exception || usedEvents.has(event)) continue;
    checkTime(event.time, `the time_unix_nano of event ${event.name}`);
    const { name, time, attributes } = event;
    events.push({
      name,
      ...(time !== 0 && { time: microsToIso(time) }),
      ...(attributes.size > 0 && { kwargs: Object.fromEntries(attributes) }),
    });
  }
  return events;
}

function tagsOf(attributes: Attributes): string[] {
  const own = givenAttribute(attributes, "langsmith.span.tags");
  const tags = typeof own === "string" ? own.split(",") : (listOf(own) ?? []);
  const all = [...tags, ...(listOf(attributes.get("tag.tags")) ?? [])];
  const texts = all.filter((tag) => typeof tag === "string").map((tag) => tag.trim());
  return [...new Set(texts)].filter((tag) => tag !== "");
}

function projectOf(
  attributes: Attributes,
  projectName: string | undefined,
): Pick<SpanRun, "session_id" | "session_name"> {
  const id = textAttribute(attributes, "langsmith.trace.session_id");
  if (id !== undefined) return { session_id: id };
  const name = textAttribute(attributes, "langsmith.trace.session_name") ?? projectName;
  return name === undefined ? {} : { session_name: name };
}

/** Returns the event from which a span's `error` is taken. */
function exceptionOf({ events }: Pick<Span, "events">): SpanEvent | undefined {
  return events.find(({ name }) => name === "exception");
}

/** Returns the `error` of a run, which marks it as failed; undefined for a run that did not fail. */
function errorOf(span: Span): string | undefined {
  const exception = exceptionOf(span);
  const ofStatus = span.isError
    ? span.statusMessage || textAttribute(span.attributes, "error.type") || "Error"
    : undefined;
  if (exception === undefined) return ofStatus;
  const { attributes } = exception;
  const message = textAttribute(attributes, "exception.message");
  const stacktrace = textAttribute(attributes, "exception.stacktrace");
  if (message === undefined && stacktrace === undefined) {
    return firstText(attributes, ["exception.type"]) ?? ofStatus ?? "Error";
  }
  return [message, stacktrace === undefined ? undefined : `Stacktrace:\n${stacktrace}`]
    .filter((part) => part !== undefined)
    .join("\n\n");
}
