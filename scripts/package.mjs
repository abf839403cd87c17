/** Builds the npm packages into dist: package and create-threadworks. */
import { join } from "node:path";
import { REPO_ROOT } from "./setup.mjs";
import { runNode } from "./run-node.mjs";

await runNode([join(REPO_ROOT, "cli/package/build-package.ts"), ...process.argv.slice(2)]);
