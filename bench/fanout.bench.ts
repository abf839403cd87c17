import { randomUUID } from "node:crypto";
import { Agent } from "node:http";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { startBareSockets } from "./support/bare-sockets.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { type EventReader, openSse, openWebSocket } from "./support/event-reader.ts";
import { BENCH_GRAPHS } from "./support/paths.ts";
import { reportRatios } from "./support/report-ratios.ts";
import { inScratch } from "./support/scratch.ts";
import { startPlatformServer } from "./support/start-platform.ts";
import { median } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";
import { cpuSeconds, workerdOf } from "./support/workerd-usage.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 8 * 60_000;
/** The graph writes these events without a pause. */
const EVENTS = { count: SMALL ? 50 : 1_000, size: 40 };
const ROUNDS = SMALL ? 1 : 7;
const CROWD = SMALL ? 8 : 100;
/** Connections that are opened at the same time. */
const OPENING = 10;

/** A server of events, which can make a thread and start a run that writes the events to it. */
type Side = {
  url: string;
  pid: () => number;
  createThread: () => Promise<string>;
  begin: (threadId: string) => Promise<void>;
};
type Transport = "both" | "sse" | "websocket";
type Crowd = { side: Side; readers: number; transport: Transport };
type Round = { events: number; cpuSeconds: number; wallMs: number };

/**
 * Measures one reader of a thread's events, by each transport, and many readers, all in turns. First half of the many
 * are WebSockets; then all are of one kind, and WebSockets are compared with a Worker that does nothing but send.
 */
export async function run(): Promise<BenchResult> {
  return inScratch("fanout", TIME_LIMIT_MS, async (scratch) => {
    const stateDir = join(scratch.path, "state");
    const configPath = join(BENCH_GRAPHS, "langgraph.json");
    const { url } = scratch.track(await startPlatformServer({ configPath, stateDir }));
    const ours = platformSide(url, workerdOf(stateDir));
    const bare = scratch.track(await startBareSockets(scratch.path, EVENTS));
    const crowds = {
      oneSse: { side: ours, readers: 1, transport: "sse" },
      oneWebSocket: { side: ours, readers: 1, transport: "websocket" },
      both: { side: ours, readers: CROWD, transport: "both" },
      sse: { side: ours, readers: CROWD, transport: "sse" },
      webSockets: { side: ours, readers: CROWD, transport: "websocket" },
      bareWebSockets: {
        side: { ...bare, createThread: async () => randomUUID() },
        readers: CROWD,
        transport: "websocket",
      },
    } satisfies Record<string, Crowd>;
    const rounds = new Map<Crowd, Round[]>();
    for (const crowd of Object.values(crowds)) {
      await readTogether(crowd);
      rounds.set(crowd, []);
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [crowd, measured] of rounds) measured.push(await readTogether(crowd));
    }
    const of = (...chosen: Crowd[]): Measured =>
      summary(chosen.flatMap((crowd) => rounds.get(crowd) ?? []));
    return report({
      alone: of(crowds.oneSse, crowds.oneWebSocket),
      both: of(crowds.both),
      sse: of(crowds.sse),
      webSockets: of(crowds.webSockets),
      bareWebSockets: of(crowds.bareWebSockets),
    });
  });
}

function platformSide(url: string, pid: number): Side {
  const client = new Client({ apiUrl: url });
  return {
    url,
    pid: () => pid,
    createThread: async () => (await client.threads.create()).thread_id,
    begin: async (threadId) => {
      await client.runs.create(threadId, "writer", { input: EVENTS, streamMode: "custom" });
    },
  };
}

/** Opens the readers of a thread, starts a run, and measures until the last reader has all events. */
async function readTogether({ side, readers: count, transport }: Crowd): Promise<Round> {
  const { url, pid } = side;
  const threadId = await side.createThread();
  const agent = new Agent({ maxSockets: Infinity });
  const readers: EventReader[] = [];
  try {
    const open = (index: number): Promise<EventReader> => {
      const isSse = transport === "sse" || (transport === "both" && index % 2 === 0);
      return (isSse ? openSse : openWebSocket)(url, threadId, { count: EVENTS.count, agent });
    };
    while (readers.length < count) {
      const next = Math.min(OPENING, count - readers.length);
      const opened = Array.from({ length: next }, (_, index) => open(readers.length + index));
      readers.push(...(await Promise.all(opened)));
    }
    const [cpuBefore, began] = [cpuSeconds(pid()), performance.now()];
    await side.begin(threadId);
    await Promise.all(readers.map(({ ended }) => ended));
    const wallMs = performance.now() - began;
    const events = count * EVENTS.count;
    return { events, cpuSeconds: cpuSeconds(pid()) - cpuBefore, wallMs };
  } finally {
    for (const { leave } of readers) leave();
    agent.destroy();
  }
}

type Measured = { eventsPerSecond: number; cpuMicroseconds: number };

function summary(rounds: Round[]): Measured {
  return {
    eventsPerSecond: median(rounds.map(({ events, wallMs }) => (events * 1_000) / wallMs)),
    cpuMicroseconds: median(rounds.map((each) => (each.cpuSeconds * 1_000_000) / each.events)),
  };
}

function report(measured: {
  alone: Measured;
  both: Measured;
  sse: Measured;
  webSockets: Measured;
  bareWebSockets: Measured;
}): BenchResult {
  const { alone, both, sse, webSockets, bareWebSockets } = measured;
  const row = (name: string, { eventsPerSecond, cpuMicroseconds }: Measured): string[] => [
    name,
    eventsPerSecond.toFixed(0),
    cpuMicroseconds.toFixed(1),
  ];
  console.log(`\n${EVENTS.count} events of a run, as fast as it writes them; medians`);
  printTable(
    ["readers", "events/s", "CPU us an event"],
    [
      row("1", alone),
      row(`${CROWD}, half of them WebSockets`, both),
      row(`${CROWD} of server-sent events`, sse),
      row(`${CROWD} WebSockets`, webSockets),
      row(`${CROWD} WebSockets of a bare Worker`, bareWebSockets),
    ],
  );
  const over = (one: Measured, other: Measured): number =>
    one.eventsPerSecond / other.eventsPerSecond;
  return reportRatios({
    fanout_100_vs_1: [over(both, alone), ">= 20"],
    fanout_100_sse_vs_1: [over(sse, alone)],
    fanout_100_websockets_vs_1: [over(webSockets, alone)],
    websockets_vs_bare: [over(webSockets, bareWebSockets), "1 is what workerd can do"],
  });
}
