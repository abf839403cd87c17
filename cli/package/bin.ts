#!/usr/bin/env node
/** The entry of the package's command. It adds what an older Node lacks, and runs the command. */
import "./node-20.ts";
// Only modules that are imported after this one are kept in the compile cache.
import "./compile-cache.ts";

await import("../main.ts");
