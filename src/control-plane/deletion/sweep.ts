export async function sweepDeployments(_env: Env, _now: number): Promise<void> {}
