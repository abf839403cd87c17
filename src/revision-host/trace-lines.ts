import type { LogLine, LogLineLevel } from "../control-plane/logs/record.ts";

/** What a tail event tells of one call of deployed code, as far as it is read here. */
export type CodeTrace = {
  eventTimestamp: number | null;
  logs: readonly { timestamp: number; level: string; message: unknown }[];
  exceptions: readonly { timestamp: number; name: string; message: string; stack?: string }[];
  outcome: string;
  truncated: boolean;
};

const LEVELS: Readonly<Record<string, LogLineLevel>> = {
  debug: "DEBUG",
  trace: "DEBUG",
  log: "INFO",
  info: "INFO",
  warn: "WARNING",
  error: "ERROR",
};

/** Outcomes that nothing in the call's own lines explains. */
const OUTCOMES: Readonly<Record<string, string>> = {
  exceededCpu: "The call was ended: it took more CPU time than a call may",
  exceededMemory: "The call was ended: it took more memory than there is",
  exceededWallTime: "The call was ended: it took too long",
  scriptNotFound: "The revision's code could not be loaded",
  loadShed: "The call was ended: the platform had too much to do",
  killSwitch: "The call was ended by the platform",
  daemonDown: "The call was ended by the platform",
  internalError: "The call was ended: the platform failed",
};

/** Lines of a deployment's log that tell what a call of its code wrote, threw, and ended with. */
export function linesOfTrace(trace: CodeTrace, revisionId: string, now: number): LogLine[] {
  const line = (timestamp: number, level: LogLineLevel, message: string): LogLine => ({
    kind: "server",
    revision_id: revisionId,
    timestamp,
    level,
    message,
  });
  const lines = trace.logs.map(({ timestamp, level, message }) =>
    line(timestamp, LEVELS[level] ?? "INFO", consoleText(message)),
  );
  for (const { timestamp, name, message, stack } of trace.exceptions) {
    lines.push(line(timestamp, "ERROR", `Uncaught ${stack ?? `${name}: ${message}`}`));
  }
  lines.sort((a, b) => a.timestamp - b.timestamp);
  const last = lines.at(-1)?.timestamp ?? trace.eventTimestamp ?? now;
  if (trace.truncated) {
    lines.push(line(last, "WARNING", "The call wrote more to the console than is kept"));
  }
  const outcome = OUTCOMES[trace.outcome];
  if (outcome !== undefined) lines.push(line(now, "ERROR", `${outcome} (${trace.outcome})`));
  if (trace.outcome === "exception" && trace.exceptions.length === 0) {
    lines.push(line(now, "ERROR", "The call ended with an exception"));
  }
  return lines;
}

/** The arguments of a console call in one text: strings as they are, all else as JSON. */
function consoleText(message: unknown): string {
  return Array.isArray(message) ? message.map(argumentText).join(" ") : argumentText(message);
}

function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Error) return value.stack ?? `${value.name}: ${value.message}`;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
