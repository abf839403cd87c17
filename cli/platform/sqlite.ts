import type * as SqliteModule from "node:sqlite";

/** Node's built-in SQLite, available from Node 22.13 on; undefined before. */
export const sqlite: typeof SqliteModule | undefined = process.getBuiltinModule?.("node:sqlite");
