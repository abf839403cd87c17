import { join } from "node:path";
import type { BenchResult } from "./support/bench-result.ts";
import { multiplyShard, shardFileOf } from "./support/multiply-shard.ts";
import { type QueryCase, queryCases } from "./support/query-cases.ts";
import {
  COMMON_NAME,
  eventsOfTraces,
  RARE_CUSTOMER,
  RARE_NAME,
  RUNS_PER_TRACE,
} from "./support/sample-trace.ts";
import { inScratch } from "./support/scratch.ts";
import { manualClient, sendEvents } from "./support/send-events.ts";
import { median, p95, roundTo } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";
import { startTracingPlatform, type TracingPlatform } from "./support/tracing-platform.ts";

/** Set: a short run that shows that the benchmark works, and measures nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 8 * 60_000;
const DAY_MS = 86_400_000;
/** Traces that come in by the API; a larger project is made of copies of them. */
const TRACES = SMALL ? 400 : 3_340;
const TIMES = { small: 1, medium: SMALL ? 2 : 10, large: SMALL ? 10 : 100 };
/** Small, because they are copied and hardly matter: of a page, the same amount is read. */
const PAYLOAD_SCALE = 0.3;
/** The traces of one day, the last of which has to end within it. */
const GAP_MS = Math.floor((DAY_MS - 60_000) / TRACES);
const WARM_UP_ROUNDS = 2;
const ROUNDS = SMALL ? 3 : 25;
/** Of filters without an index, which take seconds. */
const SLOW_ROUNDS = SMALL ? 1 : 3;
const PAGE = 100;

type Size = keyof typeof TIMES;
type Project = { size: Size; id: string; runs: number };
type Samples = Record<Size, number[]>;
