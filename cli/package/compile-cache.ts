import nodeModule from "node:module";
import { join } from "node:path";

/** Newer than the oldest Node that this runs on. */
const { enableCompileCache } = nodeModule as Partial<typeof nodeModule>;

/**
 * Keeps what V8 has compiled beside the installed packages, and takes it from there at the next start: the code of
 * Miniflare alone is several megabytes. It goes when the packages are installed anew, and a folder that cannot be
 * written is done without.
 */
enableCompileCache?.(join(import.meta.dirname, "../../.cache/threadworks/compiled"));
