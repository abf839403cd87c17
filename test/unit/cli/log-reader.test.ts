import { describe, test } from "vitest";
import {
  LogFollower,
  readNewest,
  type FetchLogs,
  type LogRequest,
} from "../../../cli/api/log-reader.ts";
import type { LogLine } from "../../../cli/api/schemas.ts";

/** A log that can grow, whose pages have at most `pageSize` lines. */
class Log {
  readonly lines: LogLine[] = [];
  readonly requests: LogRequest[] = [];
  readonly pageSize: number;

  constructor(pageSize: number) {
    this.pageSize = pageSize;
  }

  add(id: string, second: number): void {
    const timestamp = new Date(second * 1000).toISOString();
    this.lines.push({ id, timestamp, level: "INFO", message: `line ${id}` });
  }

  readonly fetch: FetchLogs = async (request) => {
    this.requests.push(request);
    const { start_time: since, order, limit, offset = "0" } = request;
    const from = this.lines.filter(({ timestamp }) => since === undefined || timestamp >= since);
    const ordered = order === "desc" ? from.toReversed() : from;
    const end = Number(offset) + Math.min(limit, this.pageSize);
    return {
      logs: ordered.slice(Number(offset), end),
      next_offset: end < ordered.length ? String(end) : null,
    };
  };
}

const idsOf = (lines: LogLine[]): string[] => lines.map(({ id }) => id);

describe("the newest lines", () => {
  test("are gathered from as many pages as needed, and returned oldest first", async ({
    expect,
  }) => {
    const log = new Log(2);
    for (let index = 0; index < 7; index += 1) log.add(String(index), index);
    expect(idsOf(await readNewest(log.fetch, { level: "INFO" }, 5))).toEqual([
      "2",
      "3",
      "4",
      "5",
      "6",
    ]);
    expect(
      log.requests.map(({ limit, offset, level, order }) => [limit, offset, level, order]),
    ).toEqual([
      [5, undefined, "INFO", "desc"],
      [3, "2", "INFO", "desc"],
      [1, "4", "INFO", "desc"],
    ]);
  });
});

describe("a log that is followed", () => {
  test("yields each line once, also if more lines with the same time come later", async ({
    expect,
  }) => {
    const log = new Log(2);
    const follower = new LogFollower(log.fetch);
    expect(await follower.next()).toEqual([]);
    log.add("a", 1);
    log.add("b", 2);
    log.add("c", 2);
    expect(idsOf(await follower.next())).toEqual(["a", "b", "c"]);
    expect(await follower.next()).toEqual([]);
    log.add("d", 2);
    log.add("e", 3);
    log.add("f", 3);
    expect(idsOf(await follower.next())).toEqual(["d", "e", "f"]);
    expect(await follower.next()).toEqual([]);
  });

  test("continues after the lines that were read before", async ({ expect }) => {
    const log = new Log(10);
    log.add("a", 1);
    log.add("b", 2);
    const follower = new LogFollower(log.fetch, { query: "line" });
    follower.skip(await readNewest(log.fetch, {}, 10));
    log.add("c", 2);
    expect(idsOf(await follower.next())).toEqual(["c"]);
    expect(log.requests.at(-1)).toMatchObject({
      query: "line",
      order: "asc",
      start_time: "1970-01-01T00:00:02.000Z",
    });
  });
});
