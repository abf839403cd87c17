import { describe, expect, test, vi } from "vitest";
import { isWanted } from "../../../../../src/agent-server/threads/protocol/event-filter.ts";
import {
  EventReaders,
  SLOW_READER_MS,
} from "../../../../../src/agent-server/threads/protocol/event-readers.ts";
import {
  EventSockets,
  type Socket,
} from "../../../../../src/agent-server/threads/protocol/event-sockets.ts";
import type { ThreadLog } from "../../../../../src/agent-server/threads/protocol/event-cursor.ts";
import { toProtocolFrame } from "../../../../../src/agent-server/threads/protocol/event-frame.ts";
import { SharedEvents } from "../../../../../src/agent-server/threads/protocol/shared-events.ts";
import type { LoggedEvent } from "../../../../../src/agent-server/threads/storage/event-frames.ts";
import type { RunRow } from "../../../../../src/agent-server/threads/storage/run-row.ts";

const ALL = { channels: ["custom", "lifecycle"], namespaces: null, depth: null };

/** Returns the log of one run in flight, which counts its reads. */
function oneRun() {
  const events: LoggedEvent[] = [];
  const run = { seq: 1, run_id: "r", graph_id: "g", first_seq: 1, next_event: 0 } as RunRow;
  const read = vi.fn((_run: number, after: number) =>
    events.filter(({ id }) => id > after).slice(0, 50),
  );
  const log: ThreadLog = {
    runAt: () => run,
    runFrom: () => null,
    runNow: () => run,
    read,
    hasEnded: () => false,
    describe: () => ({ run_id: "r", graph_id: "g", answers: [] }),
    endOf: () => ({ event: "completed" }),
  };
  const write = (count: number, size = 1): void => {
    for (let index = 0; index < count; index += 1) {
      const data = JSON.stringify("x".repeat(size));
      events.push({ id: events.length, event: "custom", data, at: 5 });
    }
  };
  return { log, read, write };
}

/** Returns a connection that does not drain by itself. */
function fakeSocket() {
  const sent: string[] = [];
  const socket = {
    bufferedAmount: 0,
    send: (text: string) => {
      sent.push(text);
      socket.bufferedAmount += text.length;
    },
    close: vi.fn(),
    serializeAttachment: vi.fn(),
    deserializeAttachment: () => null,
  };
  return { sent, socket: socket as typeof socket & Socket };
}

function socketsOf(log: ThreadLog, now: () => number): EventSockets {
  const deps = { now, maySee: () => true, isIdle: () => true, onLeave: () => {} };
  return new EventSockets({ ...deps, events: new SharedEvents(log) }, []);
}

const REQUEST = {
  thread_id: "t",
  caller: { scope: { workspaceId: "w", deploymentId: "d" }, revision: null, principal: null },
  filter: null,
};

describe("a subscription's filter", () => {
  const frame = (method: "values" | "custom", namespace: string[], data: unknown = {}) =>
    toProtocolFrame({ method, namespace, data }, 1, 1);
  const wants = (namespaces: string[][] | null, depth: number | null, path: string[]) =>
    isWanted(frame("values", path), { channels: ["values"], namespaces, depth });

  test.for<[string[][] | null, number | null, string[], boolean]>([
    [null, null, ["a:1", "b:2"], true],
    [[], null, ["a:1"], true],
    [null, 0, [], true],
    [null, 0, ["a:1"], false],
    [[["a"]], null, ["a:1", "b:2"], true],
    [[["a:1"]], null, ["a:1"], true],
    [[["a:2"]], null, ["a:1"], false],
    [[["a"]], 1, ["a:1", "b:2"], true],
    [[["a"]], 0, ["a:1", "b:2"], false],
    [[["b"], []], 1, ["a:1"], true],
    [[["a", "b"]], null, ["a:1"], false],
  ])("with the paths %j, %j levels deep, accepts %j: %j", ([namespaces, depth, path, wanted]) => {
    expect(wants(namespaces, depth, path)).toBe(wanted);
  });

  test("accepts named events by their name, or all of them", () => {
    const named = frame("custom", [], { name: "n", payload: 1 });
    const takes = (channel: string) => isWanted(named, { ...ALL, channels: [channel] });
    expect(["custom", "custom:n", "custom:m", "values"].map(takes)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

test("an event is read and encoded once for all readers that keep up", () => {
  const { log, read, write } = oneRun();
  const shared = new SharedEvents(log);
  const places = Array.from({ length: 50 }, () => shared.placeAfter(0));
  write(10);
  const texts = places.map((place) => {
    const taken: string[] = [];
    for (let next = place.take(); next !== "none"; next = place.take()) {
      if (typeof next === "object") taken.push(next.text);
    }
    return taken;
  });
  expect(texts[0]).toHaveLength(10);
  for (const each of texts) expect(each).toEqual(texts[0]);
  expect(read.mock.calls.filter(([, after]) => after === -1)).toHaveLength(1);
  const late = shared.placeAfter(5_000_000);
  expect(late.take()).toBe("more");
  expect(late.take()).toMatchObject({ seq: 6_000_000 });
});

test("the end of the log is looked up once for all readers, until the log has changed", () => {
  const { log, read, write } = oneRun();
  const shared = new SharedEvents(log);
  const places = Array.from({ length: 50 }, () => shared.placeAfter(0));
  const takeAll = (): number[] =>
    places.map((place) => {
      let taken = 0;
      for (let next = place.take(); next !== "none"; next = place.take()) {
        if (typeof next === "object") taken += 1;
      }
      return taken;
    });
  for (let round = 1; round <= 2; round += 1) {
    write(10);
    shared.logChanged();
    expect(takeAll()).toEqual(places.map(() => 10));
    // One read returns the page of events, and one finds nothing after it.
    expect(read).toHaveBeenCalledTimes(2 * round);
  }
});

describe("a reader that does not read", () => {
  test("is closed with a reason on server-sent events, and others are not", async () => {
    const { log, write } = oneRun();
    let now = 0;
    const readers = new EventReaders({ now: () => now, onLeave: () => {} });
    const shared = new SharedEvents(log);
    const open = () => readers.open(shared.placeAfter(0), ALL, () => true).getReader();
    const [slow, good] = [open(), open()];
    write(3);
    await Promise.all([slow.read(), good.read()]);
    now += SLOW_READER_MS;
    const waiting = good.read();
    readers.tick();
    expect(readers.size).toBe(1);
    const { value } = await slow.read();
    expect(new TextDecoder().decode(value)).toContain("The stream was not read");
    expect((await slow.read()).done).toBe(true);
    expect(new TextDecoder().decode((await waiting).value)).toBe(": heartbeat\n");
    await good.cancel();
  });

  test("is sent a bounded amount on a WebSocket, then closed with a reason", async () => {
    const { log, write } = oneRun();
    let now = 0;
    const sockets = socketsOf(log, () => now);
    const [slow, good] = [fakeSocket(), fakeSocket()];
    for (const { socket } of [slow, good]) {
      sockets.open(socket, REQUEST);
      sockets.subscribe(socket, { id: "s", filter: ALL }, 0);
    }
    write(100, 100_000);
    for (let turn = 0; turn < 100; turn += 1) {
      good.socket.bufferedAmount = 0;
      sockets.wake();
    }
    expect(good.sent).toHaveLength(100);
    expect(slow.sent.length).toBeLessThan(15);
    now += SLOW_READER_MS;
    sockets.retry();
    expect(slow.socket.close).toHaveBeenCalledWith(
      4408,
      expect.stringContaining("was not read for a minute"),
    );
    expect(good.socket.close).not.toHaveBeenCalled();
    expect(sockets.size).toBe(1);
    sockets.closed(good.socket);
  });
});

test("a WebSocket gets no events while its commands are pending, then each event once and in order", () => {
  vi.useFakeTimers();
  try {
    const { log, write } = oneRun();
    const sockets = socketsOf(log, () => 0);
    const { socket, sent } = fakeSocket();
    sockets.open(socket, REQUEST);
    const lifecycle = { ...ALL, channels: ["lifecycle"] };
    const subscribe = (id: string, filter = ALL) => {
      const held = sockets.hold(socket);
      sockets.wake();
      sockets.subscribe(socket, { id, filter }, 0);
      return held;
    };
    subscribe("first", lifecycle).settle();
    const held = subscribe("second");
    write(3);
    sockets.wake();
    vi.advanceTimersByTime(60_000);
    expect(sent).toEqual([]);
    held.settle();
    vi.advanceTimersByTime(1);
    sockets.wake();
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(1_000);
    const numbers = sent.map((text) => (JSON.parse(text) as { seq: number }).seq);
    expect(numbers).toEqual([1_000_000, 2_000_000, 3_000_000]);
    sockets.closed(socket);
  } finally {
    vi.useRealTimers();
  }
});
