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

/** Asks one log for a page. */
export type FetchLogs = (request: LogRequest) => Promise<LogPage>;

const PAGE_SIZE = 500;

/** The newest lines that the filter lets through, the oldest of them first. */
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

/** Reads a log that grows: each call gives the lines that came since the one before. */
export class LogFollower {
  readonly #fetchLogs: FetchLogs;
  readonly #filter: LogFilter;
  /** Ids of the lines of `#since`, which the next request lists again. */
  #seen = new Set<string>();
  #since: string | undefined;

  constructor(fetchLogs: FetchLogs, filter: LogFilter = {}) {
    this.#fetchLogs = fetchLogs;
    this.#filter = filter;
    this.#since = filter.start_time;
  }

  /** Goes on after lines that were read already. */
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

/** ISO 8601 where the line has epoch milliseconds. */
export function timeOf({ timestamp }: LogLine): string {
  return typeof timestamp === "number" ? new Date(timestamp).toISOString() : timestamp;
}
