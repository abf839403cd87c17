import type { LogLine, LogPage } from "./schemas.ts";

export type LogFilter = {
  kind?: string | undefined;
  level?: string | undefined;
  query?: string | undefined;
  /** ISO 8601. */
  start_time?: string | undefined;
  end_time?: string | undefined;
};

export type LogRequest = LogFilter & {
  order: "asc" | "desc";
  limit: number;
  offset?: string | undefined;
};

/** Requests one page of a log. */
export type FetchLogs = (request: LogRequest) => Promise<LogPage>;

const PAGE_SIZE = 500;

/** Returns the newest lines that match the filter, in chronological order. */
export async function readNewest(
  fetchLogs: FetchLogs,
  filter: LogFilter,
  limit: number,
): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  let offset: string | undefined;
  while (lines.length < limit) {
    const size = Math.min(limit - lines.length, PAGE_SIZE);
    const page = await fetchLogs({ ...filter, order: "desc", limit: size, offset });
    lines.push(...page.logs);
    if (page.next_offset == null) break;
    offset = page.next_offset;
  }
  return lines.toReversed();
}

/** Reads a log that grows: each call of `next` returns the lines added since the previous call. */
export class LogFollower {
  readonly #fetchLogs: FetchLogs;
  readonly #filter: LogFilter;
  /** Ids of the lines with the timestamp `#since`, which the next request returns again. */
  #seen = new Set<string>();
  #since: string | undefined;

  constructor(fetchLogs: FetchLogs, filter: LogFilter = {}) {
    this.#fetchLogs = fetchLogs;
    this.#filter = filter;
    this.#since = filter.start_time;
  }

  /** Marks lines that have been read already; the next call continues after them. */
  skip(lines: readonly LogLine[]): void {
    for (const line of lines) {
      const time = timeOf(line);
      if (time !== this.#since) this.#seen.clear();
      this.#since = time;
      this.#seen.add(line.id);
    }
  }

  async next(): Promise<LogLine[]> {
    const lines: LogLine[] = [];
    const request = { ...this.#filter, start_time: this.#since, order: "asc" as const };
    let offset: string | undefined;
    for (;;) {
      const page = await this.#fetchLogs({ ...request, limit: PAGE_SIZE, offset });
      lines.push(...page.logs.filter(({ id }) => !this.#seen.has(id)));
      if (page.next_offset == null) break;
      offset = page.next_offset;
    }
    this.skip(lines);
    return lines;
  }
}

/** Returns the line's time; as ISO 8601 when the line has milliseconds since the epoch. */
export function timeOf({ timestamp }: LogLine): string {
  return typeof timestamp === "number" ? new Date(timestamp).toISOString() : timestamp;
}
