import type { Reporter, TestModule } from "vitest/node";

const SHOWN = 10;

type Took = { name: string; seconds: number };

/** A reporter that lists the slowest files at the end, including their set-up. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const slowest = modules
      .map(tookOf)
      .toSorted((a, b) => b.seconds - a.seconds)
      .slice(0, SHOWN);
    if (slowest.length < 2) return;
    const lines = slowest.map(
      ({ name, seconds }) => `  ${seconds.toFixed(1).padStart(6)} s  ${name}`,
    );
    process.stdout.write(`\n The slowest files\n${lines.join("\n")}\n`);
  }
}

function tookOf(module: TestModule): Took {
  const { collectDuration, duration, environmentSetupDuration, prepareDuration, setupDuration } =
    module.diagnostic();
  const milliseconds =
    collectDuration + duration + environmentSetupDuration + prepareDuration + setupDuration;
  return { name: module.relativeModuleId, seconds: milliseconds / 1000 };
}
