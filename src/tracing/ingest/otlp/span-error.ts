import { firstText, textOf } from "./attribute-access.ts";
import type { Span, SpanEvent } from "./span.ts";

/** The event that a span's `error` is taken of. */
export function exceptionOf({ events }: Pick<Span, "events">): SpanEvent | undefined {
  return events.find(({ name }) => name === "exception");
}

/** The `error` of a run, which makes it one that failed; undefined for one that did not. */
export function errorOf(span: Span): string | undefined {
  const exception = exceptionOf(span);
  const ofStatus = span.isError
    ? span.statusMessage || textOf(span.attributes, "error.type") || "Error"
    : undefined;
  if (exception === undefined) return ofStatus;
  const { attributes } = exception;
  const message = textOf(attributes, "exception.message");
  const stacktrace = textOf(attributes, "exception.stacktrace");
  if (message === undefined && stacktrace === undefined) {
    return firstText(attributes, ["exception.type"]) ?? ofStatus ?? "Error";
  }
  return [message, stacktrace === undefined ? undefined : `Stacktrace:\n${stacktrace}`]
    .filter((part) => part !== undefined)
    .join("\n\n");
}
