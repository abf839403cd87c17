import { firstThreads, scopesWithThreads } from "../../../db/thread-moves-repo.ts";
import { deleteThread, upsertThread } from "../../../db/threads-repo.ts";
import type { Scope } from "../../../lib/scope.ts";
import type { SweepTask } from "../../../work/sweep.ts";
import {
  formerThreadDatabases,
  threadBinding,
  threadDatabase,
  threadDatabases,
} from "./thread-databases.ts";
import { threadIndex } from "./thread-index.ts";

/** Maximum rows and characters moved at once: D1 executes one batch of statements at a time. */
const PAGE = { rows: 50, chars: 4 * 1024 * 1024 };

/** Maximum pages that a sweep moves for each scope. */
const PAGES_PER_SWEEP = 300;

/** Sweep that moves threads from other databases to the one that is now configured for their workspace. */
export const threadMoveSweep: readonly SweepTask[] = [
  {
    name: "move_threads",
    rows: PAGES_PER_SWEEP,
    run: async ({ env, rows, each }) => {
      const all = threadDatabases(env);
      if (all.length === 1) return;
      for (const { binding, database } of all) {
        const scopes = await scopesWithThreads(database);
        const elsewhere = scopes.filter((scope) => threadBinding(env, scope) !== binding);
        await each(elsewhere, (scope) => moveScope(env, scope, rows));
      }
    },
  },
];

async function moveScope(env: Env, scope: Scope, pages: number): Promise<void> {
  const index = threadIndex(env, scope);
  for (let page = 0; page < pages; page += 1) if (!(await index.moveThreads(scope))) return;
}

/**
 * Moves some threads of a scope, and returns whether there were any. Nothing else may write rows of the scope in
 * the meantime: a row removed then would reappear. If the target database has a newer row, that is kept.
 */
export async function moveSomeThreads(env: Env, scope: Scope): Promise<boolean> {
  const home = threadDatabase(env, scope);
  for (const former of formerThreadDatabases(env, scope)) {
    const rows = await firstThreads(former, scope, PAGE);
    if (rows.length === 0) continue;
    await home.batch(rows.map((row) => upsertThread(home, row)));
    await former.batch(
      rows.map(({ thread_id, version }) => deleteThread(former, scope, thread_id, version)),
    );
    return true;
  }
  return false;
}
