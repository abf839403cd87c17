import { isObject } from "../../../lib/json.ts";
import type { RunEvent, RunOutcome } from "../../../graph-runtime/protocol.ts";

/**
 * What a graph host answered, if it is an outcome: a deployment's host is its own code, and a run whose
 * end cannot be stored would never end. Throws for anything else.
 */
export function toOutcome(value: unknown): RunOutcome {
  if (isOutcome(value)) return value;
  throw new TypeError("The graph host's answer is no outcome of a run");
}

function isOutcome(value: unknown): value is RunOutcome {
  if (!isObject(value) || !isTail(value["tail"])) return false;
  const { status, error, result, snapshot } = value;
  if (!isTextOrNull(result) || (snapshot === "result" && result === null)) return false;
  if (snapshot !== null && snapshot !== "result" && !isSnapshot(snapshot)) return false;
  if (status === "error") {
    return (
      isObject(error) && typeof error["error"] === "string" && typeof error["message"] === "string"
    );
  }
  return status === "success" || status === "interrupted";
}

function isTail(tail: unknown): boolean {
  if (!isObject(tail)) return false;
  const { checkpoints, events } = tail;
  return Array.isArray(checkpoints) && Array.isArray(events) && events.every(isEvent);
}

function isEvent(value: unknown): value is RunEvent {
  return isObject(value) && typeof value["event"] === "string" && typeof value["data"] === "string";
}

function isSnapshot(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { values, next, interrupts } = value;
  return (
    isTextOrNull(values) &&
    Array.isArray(next) &&
    next.every((node) => typeof node === "string") &&
    isObject(interrupts)
  );
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}
