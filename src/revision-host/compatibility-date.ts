/**
 * The compatibility date in wrangler.toml, because deployed code is built for the runtime that this Worker runs
 * on.
 */
export const COMPATIBILITY_DATE = "2026-11-01";
