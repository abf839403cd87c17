import { createRequire } from "node:module";
import type * as MiniflareModule from "miniflare";

const require = createRequire(import.meta.url);

/**
 * Loads Miniflare on first use, by `require`, since it is CommonJS. An `import` would first scan its several
 * megabytes to detect the format, and then parse them for exported names, which takes half of the loading
 * time.
 */
export function loadMiniflare(): typeof MiniflareModule {
  return require("miniflare") as typeof MiniflareModule;
}
