/** Runs commands in lanes: the steps of a lane run one after the other, and the lanes run side by side. */
import { projectEnvironment, run } from "./setup.mjs";

const TIMEOUT_MS = 15 * 60_000;

/**
 * Runs every step, even after one has failed, and prints how long each took. The output of a step is only
 * shown when it failed. Resolves with the names of the failed steps.
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

/** Runs a step. Returns its output and error when it failed; undefined when it succeeded. */
async function problemOf({ name, command: [file, ...args] }) {
  try {
    const env = projectEnvironment();
    await run(file, args, { env, output: "kept", timeoutMs: TIMEOUT_MS, what: name });
    return undefined;
  } catch (error) {
    return `${error.output ?? ""}${error.message}`;
  }
}
