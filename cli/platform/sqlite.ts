import type * as SqliteModule from "node:sqlite";

/** Node's own SQLite, which Node has from 22.13 on; undefined before. */
export const sqlite: typeof SqliteModule | undefined = process.getBuiltinModule?.("node:sqlite");
