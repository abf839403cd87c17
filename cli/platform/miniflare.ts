import { createRequire } from "node:module";
import type * as MiniflareModule from "miniflare";

/**
 * Miniflare, as the CommonJS that it is. An `import` would first compile its megabytes to find out what
 * they are, and then parse them for the names that they export: half of the time that it takes to load.
 */
export const { convertV4MiniflareOptions, Log, LogLevel, Miniflare, Response } = createRequire(
  import.meta.url,
)("miniflare") as typeof MiniflareModule;
