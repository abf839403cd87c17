import { format } from "node:util";
import type { LogLine, LogLineLevel } from "../deployment-log/log-line.ts";

/** The members of a tail event of one call of deployed code that are read here. */
export type CodeTrace = {
  eventTimestamp: number | null;
  logs: readonly ConsoleCall[];
  exceptions: readonly (ErrorInfo & { timestamp: number })[];
  outcome: string;
  truncated: boolean;
};

type ConsoleCall = {
  timestamp: number;
  level: string;
  /** The arguments, as far as JSON can represent them. */
  message: unknown;
  /** Details of arguments that were errors, at their positions. */
  errorInfo?: readonly (ErrorInfo | null)[];
};

type ErrorInfo = { name: string; message: string; stack?: string };

const LEVELS: Readonly<Record<string, LogLineLevel>> = {
  debug: "DEBUG",
  trace: "DEBUG",
  log: "INFO",
  info: "INFO",
  warn: "WARNING",
  error: "ERROR",
};

/** Outcomes that the lines of the call itself do not explain. */
const OUTCOMES: Readonly<Record<string, string>> = {
  exceededCpu: "The call was ended: it exceeded the CPU time limit",
  exceededMemory: "The call was ended: it exceeded the memory limit",
  exceededWallTime: "The call was ended: it took too long",
  scriptNotFound: "The revision's code could not be loaded",
  loadShed: "The call was ended: the platform was overloaded",
  killSwitch: "The call was ended by the platform",
  daemonDown: "The call was ended by the platform",
  internalError: "The call was ended: the platform failed",
};

/**
 * Returns the lines of a deployment's log for one call of its code: its console output, uncaught exceptions and
 * outcome.
 */
export function linesOfTrace(trace: CodeTrace, revisionId: string, now: number): LogLine[] {
  const line = (timestamp: number, level: LogLineLevel, message: string): LogLine => ({
    kind: "server",
    revision_id: revisionId,
    timestamp,
    level,
    message,
  });
  const lines = trace.logs.map((call) =>
    line(call.timestamp, LEVELS[call.level] ?? "INFO", consoleText(call)),
  );
  for (const exception of trace.exceptions) {
    lines.push(line(exception.timestamp, "ERROR", `Uncaught ${errorText(exception)}`));
  }
  lines.sort((a, b) => a.timestamp - b.timestamp);
  const last = lines.at(-1)?.timestamp ?? trace.eventTimestamp ?? now;
  if (trace.truncated) {
    lines.push(
      line(last, "WARNING", "The call's console output was cut off because it was too long"),
    );
  }
  const outcome = OUTCOMES[trace.outcome];
  if (outcome !== undefined) lines.push(line(now, "ERROR", `${outcome} (${trace.outcome})`));
  if (trace.outcome === "exception" && trace.exceptions.length === 0) {
    lines.push(line(now, "ERROR", "The call ended with an exception"));
  }
  return lines;
}

/**
 * Formats the arguments of a console call as one text: strings unchanged, errors with their stack, all else as
 * JSON. If the first argument has placeholders such as %s, they are filled with the other arguments.
 */
function consoleText({ message, errorInfo }: ConsoleCall): string {
  const values: readonly unknown[] = Array.isArray(message) ? message : [message];
  const texts = values.map((value, index) => {
    const error = errorInfo?.[index];
    if (error) return errorText(error);
    return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
  });
  // Only a string that the code itself wrote can have placeholders.
  const isFormat = typeof values[0] === "string" && !errorInfo?.[0];
  return isFormat ? format(...texts) : texts.join(" ");
}

/** Formats an error. Its stack may come with or without the first line. */
function errorText({ name, message, stack }: ErrorInfo): string {
  const title = message === "" ? name : `${name}: ${message}`;
  if (!stack) return title;
  return stack.startsWith(name) ? stack : `${title}\n${stack}`;
}
