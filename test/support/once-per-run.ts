/** Shared by the whole process: each suite evaluates the modules of its set-up separately. */
const started: Map<string, Promise<void>> = ((
  globalThis as { threadworksSetUps?: Map<string, Promise<void>> }
).threadworksSetUps ??= new Map());

/** Does the work with this name unless another suite's set-up has done it in this run. */
export function oncePerRun(name: string, work: () => Promise<void>): Promise<void> {
  const before = started.get(name);
  if (before !== undefined) return before;
  const now = work();
  started.set(name, now);
  return now;
}
