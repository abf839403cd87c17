import { createRequire } from "node:module";
import type * as MiniflareModule from "miniflare";

const require = createRequire(import.meta.url);

/**
 * Miniflare, loaded when it is first asked for, as the CommonJS that it is. An `import` would first compile its
 * megabytes to find out what they are, and then parse them for the names that they export: half of the time.
 */
export function loadMiniflare(): typeof MiniflareModule {
  return require("miniflare") as typeof MiniflareModule;
}
