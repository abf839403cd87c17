/** Builds what would be deployed, and lets wrangler check it without deploying. */
import { join } from "node:path";
import { REPO_ROOT } from "./setup.mjs";
import { runNode } from "./run-node.mjs";

const wrangler = join(REPO_ROOT, "node_modules/wrangler/bin/wrangler.js");
const outDir = join(REPO_ROOT, "dist");

await runNode(
  [join(REPO_ROOT, "cli/build-worker-graphs.ts"), ...process.argv.slice(2)],
  [wrangler, "deploy", "--dry-run", "--env", "", "--outdir", outDir],
);
