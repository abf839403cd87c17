import { join, resolve } from "node:path";

export const REPO_ROOT = resolve(import.meta.dirname, "../..");
export const BENCH_GRAPHS = join(REPO_ROOT, "bench/graphs");
/** A project of the peer: the packages of this repository's template, and the peer's command. */
export const PEER_PROJECT = join(REPO_ROOT, "bench/peer");
