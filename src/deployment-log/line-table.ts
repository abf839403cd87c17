import { LOG_LINE_LEVELS, type LogKind, type LogLine, type LogLineLevel } from "./log-line.ts";

export type LogQuery = {
  kinds: LogKind[];
  /** Null selects lines of every revision, and those of none. */
  revisionId: string | null;
  /** The lowest level that is included. */
  level: LogLineLevel;
  /** Text that a message must contain, ignoring the case of ASCII letters; "" matches every message. */
  text: string;
  /** Epoch microseconds; `from` is inclusive, `to` is exclusive. */
  from: number;
  to: number;
  order: "asc" | "desc";
  limit: number;
};

/** `time` is in epoch microseconds, and different for each line. */
export type StoredLine = Pick<LogLine, "kind" | "revision_id" | "level" | "message"> & {
  time: number;
};

/** Lines in the order of the query. A page can have fewer lines than the limit without being the last. */
export type LogPage = { lines: StoredLine[]; more: boolean };

type Row = {
  time: number;
  kind: LogKind;
  revision_id: string | null;
  level: number;
  message: string;
};

/** Maximum characters of a page's messages: an answer stays well below the size limit of a call. */
const MAX_PAGE_CHARS = 4_000_000;

/** Number of lines of each kind that are kept per deployment, the newest ones. */
const MAX_LINES: Readonly<Record<LogKind, number>> = {
  build: 10_000,
  deploy: 10_000,
  server: 50_000,
};

const DELETED_AT_A_TIME = 5000;

/**
 * Appends lines. No line gets an earlier time than a stored one, so that a reader that continues after the last
 * line does not miss any that arrived late.
 */
export function insertLines(sql: SqlStorage, lines: readonly LogLine[], nowMs: number): void {
  let last =
    sql.exec<{ time: number | null }>("SELECT max(time) AS time FROM lines").one().time ?? 0;
  for (const { kind, revision_id, timestamp, level, message } of lines) {
    last = Math.max(last + 1, Math.floor(Math.min(timestamp, nowMs) * 1000));
    sql.exec(
      "INSERT INTO lines (time, kind, revision_id, level, message) VALUES (?, ?, ?, ?, ?)",
      last,
      kind,
      revision_id,
      LOG_LINE_LEVELS.indexOf(level),
      message,
    );
  }
}

export function selectLines(sql: SqlStorage, query: LogQuery): LogPage {
  const rows = sql.exec<Row>(
    `SELECT time, kind, revision_id, level, message FROM lines
     WHERE time >= ? AND time < ? AND level >= ?
       AND kind IN (SELECT value FROM json_each(?))
       ${query.revisionId === null ? "AND ? IS NULL" : "AND revision_id = ?"}
       ${query.text === "" ? "AND ? = ''" : "AND instr(lower(message), ?) > 0"}
     ORDER BY time ${query.order === "asc" ? "ASC" : "DESC"} LIMIT ?`,
    query.from,
    query.to,
    LOG_LINE_LEVELS.indexOf(query.level),
    JSON.stringify(query.kinds),
    query.revisionId,
    query.text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()),
    query.limit + 1,
  );
  const lines: StoredLine[] = [];
  let chars = 0;
  for (const { level, ...row } of rows) {
    chars += row.message.length;
    const isFull = lines.length === query.limit || chars > MAX_PAGE_CHARS;
    if (isFull && lines.length > 0) return { lines, more: true };
    lines.push({ ...row, level: LOG_LINE_LEVELS[level] ?? "INFO" });
  }
  return { lines, more: false };
}

/** Whether a kind has so many lines that some should be deleted. */
export function hasTooManyLines(sql: SqlStorage): boolean {
  return Object.entries(MAX_LINES).some(
    ([kind, max]) => countLines(sql, kind) > max + DELETED_AT_A_TIME,
  );
}

/**
 * Deletes lines before `from` (epoch microseconds) and those that exceed the maximum. Returns false if there may
 * be more to delete, because the work of one call is bounded.
 */
export function pruneLines(sql: SqlStorage, from: number): boolean {
  let left = DELETED_AT_A_TIME;
  left -= deleteLines(sql, "SELECT time FROM lines WHERE time < ? ORDER BY time LIMIT ?", [
    from,
    left,
  ]);
  for (const [kind, max] of Object.entries(MAX_LINES)) {
    const extra = Math.min(countLines(sql, kind) - max, left);
    if (extra <= 0) continue;
    left -= deleteLines(sql, "SELECT time FROM lines WHERE kind = ? ORDER BY time LIMIT ?", [
      kind,
      extra,
    ]);
  }
  return left > 0;
}

function deleteLines(sql: SqlStorage, which: string, bindings: (string | number)[]): number {
  sql.exec(`DELETE FROM lines WHERE time IN (${which})`, ...bindings);
  return sql.exec<{ lines: number }>("SELECT changes() AS lines").one().lines;
}

function countLines(sql: SqlStorage, kind: string): number {
  return sql
    .exec<{ lines: number }>("SELECT count(*) AS lines FROM lines WHERE kind = ?", kind)
    .one().lines;
}
