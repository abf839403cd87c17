import { parseSettings } from "../../../env.ts";
import type { Scope } from "../../../lib/scope.ts";

/** The database of the threads of whoever is not named in THREAD_DATABASES. */
const DEFAULT_BINDING = "DB";

/** In the place of a workspace's id: all that are not named. */
const ANY_WORKSPACE = "*";

type Workspace = Pick<Scope, "workspaceId">;

/** The databases that may have rows of threads, each with its binding. */
export function threadDatabases(env: Env): { binding: string; database: D1Database }[] {
  const { threadDatabases: chosen } = parseSettings(env);
  const bindings = new Set([DEFAULT_BINDING, ...Object.keys(chosen)]);
  return [...bindings].map((binding) => ({ binding, database: databaseOf(env, binding) }));
}

/** The binding of the database that has the threads of a workspace. */
export function threadBinding(env: Env, { workspaceId }: Workspace): string {
  const chosen = Object.entries(parseSettings(env).threadDatabases);
  const bindingOf = (workspace: string): string | undefined =>
    chosen.find(([, workspaces]) => workspaces.includes(workspace))?.[0];
  return bindingOf(workspaceId) ?? bindingOf(ANY_WORKSPACE) ?? DEFAULT_BINDING;
}

/** The database in which the threads of a workspace are listed and searched. */
export function threadDatabase(env: Env, workspace: Workspace): D1Database {
  return databaseOf(env, threadBinding(env, workspace));
}

/** Those in which rows of the workspace may still be from a time when it had another one. */
export function formerThreadDatabases(env: Env, workspace: Workspace): D1Database[] {
  const home = threadBinding(env, workspace);
  return threadDatabases(env)
    .filter(({ binding }) => binding !== home)
    .map(({ database }) => database);
}

function databaseOf(env: Env, binding: string): D1Database {
  const bound: unknown = env[binding as keyof Env];
  if (typeof bound === "object" && bound !== null && "prepare" in bound) return bound as D1Database;
  throw new Error(`THREAD_DATABASES names ${binding}, which is no D1 database of this Worker`);
}
