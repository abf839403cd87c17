import type { LogKind } from "../../deployment-log/log-line.ts";
import { LOG_ID_DIGITS, type LogPageJson, type LogRequest } from "./log-schemas.ts";
import type { LogPage, LogQuery, StoredLine } from "../../deployment-log/line-table.ts";

/** Converts a request to the log object's query. `kinds` are those that the request's path covers. */
export function toLogQuery(
  request: LogRequest,
  which: { kinds: LogKind[]; revisionId: string | null },
): LogQuery {
  const order = request.order ?? "desc";
  const after = request.offset == null ? null : Number(request.offset);
  let from = request.start_time ?? 0;
  let to = request.end_time ?? Number.MAX_SAFE_INTEGER;
  if (after !== null && order === "asc") from = Math.max(from, after + 1);
  if (after !== null && order === "desc") to = Math.min(to, after);
  const { kind } = request;
  return {
    revisionId: which.revisionId,
    kinds: kind == null ? which.kinds : which.kinds.filter((each) => each === kind),
    level: request.level ?? "DEBUG",
    text: request.query ?? "",
    from,
    to,
    order,
    limit: request.limit,
  };
}

export function toLogPageJson({ lines, more }: LogPage): LogPageJson {
  const last = lines.at(-1);
  return {
    logs: lines.map(({ time, level, message, kind, revision_id }) => ({
      id: idOf({ time }),
      timestamp: isoMicros(time),
      level,
      message,
      kind,
      revision_id,
    })),
    next_offset: more && last !== undefined ? idOf(last) : null,
  };
}

function idOf({ time }: Pick<StoredLine, "time">): string {
  return String(time).padStart(LOG_ID_DIGITS, "0");
}

/**
 * Formats a time with microseconds, which make the times of lines unique. A client that continues from the last
 * line's time therefore gets past it, however many lines there are in a millisecond.
 */
function isoMicros(micros: number): string {
  const millis = Math.floor(micros / 1000);
  const rest = String(micros % 1000).padStart(3, "0");
  return new Date(millis).toISOString().replace("Z", `${rest}Z`);
}
