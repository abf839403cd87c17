#!/usr/bin/env node
import { join } from "node:path";
import { REPO_ROOT } from "./setup.mjs";
import { runNode } from "./run-node.mjs";

await runNode([join(REPO_ROOT, "cli/main.ts"), ...process.argv.slice(2)]);
