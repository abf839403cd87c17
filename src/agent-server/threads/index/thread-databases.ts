import { parseSettings } from "../../../env.ts";
import type { Scope } from "../../../lib/scope.ts";

/** The database for the threads of workspaces that THREAD_DATABASES does not name. */
const DEFAULT_BINDING = "DB";

/** Stands for all workspaces that are not named. */
const ANY_WORKSPACE = "*";

type Workspace = Pick<Scope, "workspaceId">;

/** Returns the databases that may contain thread rows, each with its binding. */
export function threadDatabases(env: Env): { binding: string; database: D1Database }[] {
  const { threadDatabases: chosen } = parseSettings(env);
  const bindings = new Set([DEFAULT_BINDING, ...Object.keys(chosen)]);
  return [...bindings].map((binding) => ({ binding, database: databaseOf(env, binding) }));
}

/** Returns the binding of the database that has a workspace's threads. */
export function threadBinding(env: Env, { workspaceId }: Workspace): string {
  const chosen = Object.entries(parseSettings(env).threadDatabases);
  const bindingOf = (workspace: string): string | undefined =>
    chosen.find(([, workspaces]) => workspaces.includes(workspace))?.[0];
  return bindingOf(workspaceId) ?? bindingOf(ANY_WORKSPACE) ?? DEFAULT_BINDING;
}

/** Returns the database in which a workspace's threads are listed and searched. */
export function threadDatabase(env: Env, workspace: Workspace): D1Database {
  return databaseOf(env, threadBinding(env, workspace));
}

/** Returns the databases that may still contain rows of the workspace from an earlier configuration. */
export function formerThreadDatabases(env: Env, workspace: Workspace): D1Database[] {
  const home = threadBinding(env, workspace);
  return threadDatabases(env)
    .filter(({ binding }) => binding !== home)
    .map(({ database }) => database);
}

function databaseOf(env: Env, binding: string): D1Database {
  const bound: unknown = env[binding as keyof Env];
  if (typeof bound === "object" && bound !== null && "prepare" in bound) return bound as D1Database;
  throw new Error(`THREAD_DATABASES names ${binding}, which is not a D1 database of this Worker`);
}
