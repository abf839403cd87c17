/** Deploys the platform to Cloudflare: graphs, database migrations, Worker. */
import { join } from "node:path";
import { REPO_ROOT } from "./setup.mjs";
import { runNode } from "./run-node.mjs";

await runNode([join(REPO_ROOT, "cli/deploy-platform.ts"), ...process.argv.slice(2)]);
