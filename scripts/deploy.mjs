/** Deploys the platform to Cloudflare: graphs, database migrations, Worker. */
import { join } from "node:path";
import { REPO_ROOT } from "./setup.mjs";
import { runNode } from "./run-node.mjs";

// Regenerates the regions first, so that changes at the top level of wrangler.toml or in regions.toml are deployed.
await runNode(
  [join(REPO_ROOT, "scripts/regions.mjs")],
  [join(REPO_ROOT, "cli/deploy-platform.ts"), ...process.argv.slice(2)],
);
