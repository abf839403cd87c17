/** Runs commands in lanes: those of a lane one after the other, the lanes side by side. */
import { projectEnvironment, run } from "./setup.mjs";

const TIMEOUT_MS = 15 * 60_000;

/**
 * Runs every step, also after one has failed, and says of each how long it took. What a step printed is shown when it
 * failed. Resolves with the names of those that failed.
 */
export async function runSteps(lanes, print = show) {
  const failed = [];
  const runLane = async (steps) => {
    for (const step of steps) {
      const startedAt = performance.now();
      const problem = await problemOf(step);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(6);
      print(`${problem === undefined ? "ok    " : "FAILED"} ${seconds} s  ${step.name}\n`);
      if (problem === undefined) continue;
      failed.push(step.name);
      print(`${problem}\n`);
    }
  };
  await Promise.all(lanes.map(runLane));
  return failed;
}

function show(text) {
  process.stdout.write(text);
}

/** What is wrong, as the step itself printed it; undefined when nothing is. */
async function problemOf({ name, command: [file, ...args] }) {
  try {
    const env = projectEnvironment();
    await run(file, args, { env, output: "kept", timeoutMs: TIMEOUT_MS, what: name });
    return undefined;
  } catch (error) {
    return `${error.output ?? ""}${error.message}`;
  }
}
