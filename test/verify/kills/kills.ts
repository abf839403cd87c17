import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, PlatformProcess } from "../../restart/support/platform-process.ts";
import { Random } from "../../restart/support/random.ts";
import { type PartResult, Problems } from "../part.ts";
import { exports } from "./exports.ts";
import { rollouts } from "./rollouts.ts";
import { runs } from "./runs.ts";
import { traces } from "./traces.ts";

const KILLS = 40;
const MAX_UPTIME_MS = 2500;

const VARS = {
  RATE_LIMITS: "off",
  LOG_LEVEL: "error",
  EXPORT_LIMITS: JSON.stringify({
    rows_per_file: 10,
    lease_seconds: 3,
    // Kills cost no attempt, however many of them interrupt the same file.
    interruptions: 2 * KILLS,
    retry_delay_seconds: 1,
  }),
};

/**
 * Kills everything, or workerd alone, at times that depend on the seed, while runs, traces, exports and rollouts are
 * in progress. Nothing that was acknowledged may be lost or duplicated, and no process may be left.
 */
export async function killSchedule(seed: number): Promise<PartResult> {
  const random = new Random(seed);
  const platform = await PlatformProcess.start({ vars: VARS });
  const problems = new Problems();
  try {
    const workloads = [
      runs(platform),
      traces(platform),
      await exports(platform),
      await rollouts(platform),
    ];
    const stop = new AbortController();
    const working = workloads.map(({ run }) => run(stop.signal));
    const restartsMs: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(random.between(100, MAX_UPTIME_MS));
      const { workerd } = platform.pids;
      const startedAt = performance.now();
      if (random.between(0, 2) === 0) await platform.crash();
      else await platform.restart();
      restartsMs.push(performance.now() - startedAt);
      if (isAlive(workerd)) problems.add("process", `workerd ${workerd} is left`);
    }
    await sleep(MAX_UPTIME_MS);
    stop.abort();
    await Promise.all(working);
    for (const { check } of workloads) await check(problems);
    const median = restartsMs.toSorted((a, b) => a - b)[Math.floor(KILLS / 2)] ?? 0;
    return {
      figures: [
        ["kills", String(KILLS)],
        ["to the first answer after a kill, median", `${Math.round(median)} ms`],
        ...workloads.map(({ name, acknowledged }): [string, string] => [
          `acknowledged ${name}`,
          String(acknowledged()),
        ]),
        ["lost, doubled or wrong", String(problems.count)],
      ],
      problems: problems.list(),
    };
  } finally {
    await platform.dispose();
  }
}
