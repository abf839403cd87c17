export type SqlValue = string | number | null;
export type SqlRow = Record<string, unknown>;

/**
 * A D1 database as the command line tools reach it: a binding of Miniflare, or Cloudflare's database through
 * wrangler. The statements of this folder are plain text with `?`, because loading drizzle takes as much CPU as
 * everything else that `npm start` loads.
 */
export type SqlRunner = { run: (sql: string, values?: SqlValue[]) => Promise<SqlRow[]> };
