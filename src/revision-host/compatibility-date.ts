/** That of wrangler.toml: deployed code is built for the runtime that this Worker runs on. */
export const COMPATIBILITY_DATE = "2026-11-01";
