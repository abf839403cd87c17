import { expect, test } from "vitest";
import {
  EventFrames,
  FrameReader,
  type LoggedEvent,
} from "../../../../../src/agent-server/threads/storage/event-frames.ts";

/** Maximum number of events that the log returns at once, as the real log does. */
const PAGE = 4;

/** A log in memory, which counts its reads. */
class Log {
  reads = 0;
  readonly events: LoggedEvent[] = [];

  add(event: string, data: string): void {
    this.events.push({ id: this.events.length, event, data, at: null });
  }

  read(_run: number, after: number, before: number): LoggedEvent[] {
    this.reads += 1;
    return this.events.filter(({ id }) => id > after && id < before).slice(0, PAGE);
  }
}

function setUp(events: number) {
  const log = new Log();
  for (let index = 0; index < events; index += 1) log.add("custom", `"${index}"`);
  const frames = new EventFrames(log, 1);
  const open = (after = -1, accept: ((event: string) => boolean) | null = null) =>
    new FrameReader(frames, { after, accept });
  return { log, frames, open };
}

/** Returns everything that a reader gets now, and the number of chunks. */
function drain(reader: FrameReader, before = Infinity): { text: string; pieces: number } {
  const decoder = new TextDecoder();
  let text = "";
  for (let pieces = 0; ; pieces += 1) {
    const bytes = reader.next(before);
    if (bytes === null) return { text, pieces };
    text += decoder.decode(bytes, { stream: true });
  }
}

const idsIn = (text: string): number[] =>
  [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

test("an event is read from the log once for all readers", () => {
  const { log, frames, open } = setUp(0);
  const readers = Array.from({ length: 50 }, () => open());
  for (const reader of readers) expect(reader.next(Infinity)).toBeNull();
  log.reads = 0;
  for (let index = 0; index < 10; index += 1) {
    log.add("custom", String(index));
    frames.logChanged();
    for (const reader of readers) expect(idsIn(drain(reader).text)).toEqual([index]);
  }
  // One read returns the event, and one finds nothing after it.
  expect(log.reads).toBe(20);
});

test("readers of one event get the same bytes", () => {
  const { open } = setUp(1);
  const [first, second] = [open().next(Infinity), open().next(Infinity)];
  expect(first).toEqual(second);
  expect(first?.buffer).toBe(second?.buffer);
});

test("readers at different positions get everything after their own position, in order", () => {
  const { log, frames, open } = setUp(11);
  const readers = [open(), open(3), open(9), open(10), open(99)];
  const expected = [-1, 3, 9, 10, 10].map((after) =>
    Array.from({ length: 10 - after }, (_, index) => after + 1 + index),
  );
  expect(readers.map((reader) => idsIn(drain(reader).text))).toEqual(expected);
  log.add("custom", "1");
  frames.logChanged();
  expect(readers.map((reader) => idsIn(drain(reader).text))).toEqual([[11], [11], [11], [11], []]);
});

test("a slow reader gets the events that the others have already read", () => {
  const { log, frames, open } = setUp(0);
  const [slow, quick] = [open(), open()];
  for (let index = 0; index < 40; index += 1) {
    log.add("custom", JSON.stringify("x".repeat(100_000)));
    frames.logChanged();
    drain(quick);
  }
  expect(idsIn(drain(slow).text)).toEqual(Array.from({ length: 40 }, (_, index) => index));
});

test("an event that is not durable is not shown until it is", () => {
  const { frames, open } = setUp(3);
  const reader = open();
  expect(idsIn(drain(reader, 2).text)).toEqual([0, 1]);
  frames.logChanged();
  expect(idsIn(drain(reader).text)).toEqual([2]);
});

test("a large event comes in several chunks", () => {
  const { log, open } = setUp(1);
  const large = JSON.stringify("é".repeat(150_000));
  log.add("values", large);
  log.add("custom", "2");
  const { text, pieces } = drain(open());
  expect(text).toBe(
    `event: custom\ndata: "0"\nid: 0\n\nevent: values\ndata: ${large}\nid: 1\n\nevent: custom\ndata: 2\nid: 2\n\n`,
  );
  expect(pieces).toBe(Math.ceil(new TextEncoder().encode(text).byteLength / (64 * 1024)));
});

test("events that a reader did not request are skipped", () => {
  const { log, open } = setUp(6);
  log.add("values", "{}");
  log.add("custom\r\n", "1");
  const accept = (event: string): boolean => event === "values";
  expect(idsIn(drain(open(-1, accept)).text)).toEqual([6]);
  expect(drain(open(6)).text).toBe("event: custom\ndata: 1\nid: 7\n\n");
});
