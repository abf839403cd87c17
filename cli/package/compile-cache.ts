import nodeModule from "node:module";
import { join } from "node:path";

/** Undefined in the oldest Node that this runs on. */
const { enableCompileCache } = nodeModule as Partial<typeof nodeModule>;

/**
 * Caches V8's compiled code beside the installed packages for later starts: the code of Miniflare alone is
 * several megabytes. The cache is removed when the packages are reinstalled. When the folder cannot be
 * written, there is no cache.
 */
enableCompileCache?.(join(import.meta.dirname, "../../.cache/threadworks/compiled"));
