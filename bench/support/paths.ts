import { join, resolve } from "node:path";

export const REPO_ROOT = resolve(import.meta.dirname, "../..");
export const BENCH_GRAPHS = join(REPO_ROOT, "bench/graphs");
