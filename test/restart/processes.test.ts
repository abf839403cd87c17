import { onTestFinished, expect, test } from "vitest";
import { isAlive, isPortFree, PlatformProcess } from "./support/platform-process.ts";
import { until } from "./support/until.ts";

const CLEAN_UP_TIMEOUT_MS = 150_000;

async function started(): Promise<PlatformProcess> {
  const platform = await PlatformProcess.start();
  onTestFinished(() => platform.dispose());
  return platform;
}

/** Runs a graph of one step, to show that the server works. */
function oneStep({ client }: PlatformProcess): Promise<unknown> {
  return client.runs.wait(null, "slow", { input: { steps: 1, delay_ms: 1 } });
}

for (const victim of ["server", "launcher"] as const) {
  test(`no process is left when only the ${victim} process is killed`, async () => {
    const platform = await started();
    const { pids, port } = platform;
    process.kill(pids[victim], "SIGKILL");
    await platform.ended();
    await until(
      async () => !isAlive(pids.server) && !isAlive(pids.workerd) && (await isPortFree(port)),
      CLEAN_UP_TIMEOUT_MS,
      "the end of server and workerd",
    );

    await platform.start();
    expect(await oneStep(platform)).toMatchObject({ done: 1 });
  });
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} ends the server with exit code 0, and its port is free`, async () => {
    const platform = await started();
    const { pids, port } = platform;
    const { thread_id } = await platform.client.threads.create();
    await platform.client.runs.create(thread_id, "slow", {
      input: { label: "stopped", steps: 3, delay_ms: 300 },
    });
    expect(await platform.stop(signal)).toBe(0);
    expect(Object.values(pids).filter(isAlive)).toEqual([]);
    expect(await isPortFree(port)).toBe(true);

    await platform.start();
    const thread = await until(
      async () => {
        const found = await platform.client.threads.get(thread_id);
        return found.status === "idle" && found;
      },
      CLEAN_UP_TIMEOUT_MS,
      "the end of the run that was stopped",
    );
    expect(thread.values).toMatchObject({ done: 3 });
  });
}

test("a second server on the same state directory is refused", async () => {
  const platform = await started();
  const { url, stateDir } = platform;
  const refused = PlatformProcess.start({ stateDir });
  await expect(refused).rejects.toThrow(`the state directory ${stateDir} is in use by process`);
  await expect(refused).rejects.toThrow(`which serves ${url}`);
  expect(await oneStep(platform)).toMatchObject({ done: 1 });
});
