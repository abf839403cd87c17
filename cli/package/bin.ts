#!/usr/bin/env node
/** What the package's command starts: it brings an older Node up to what the code needs, and runs the command. */
import "./node-20.ts";
// Only what is imported after it is compiled once for all starts.
import "./compile-cache.ts";

await import("../main.ts");
