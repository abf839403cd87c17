/** Deploys the platform to Cloudflare: graphs, database migrations, Worker. */
import { join } from "node:path";
import { REPO_ROOT } from "./setup.mjs";
import { runNode } from "./run-node.mjs";

// What was changed at the top level of wrangler.toml or in regions.toml is deployed, too.
await runNode(
  [join(REPO_ROOT, "scripts/regions.mjs")],
  [join(REPO_ROOT, "cli/deploy-platform.ts"), ...process.argv.slice(2)],
);
