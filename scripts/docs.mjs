/** Builds the documentation as a site with a search into dist/docs. Fails when a link between pages is dead. */
import { join } from "node:path";
import { REPO_ROOT } from "./setup.mjs";
import { runNode } from "./run-node.mjs";

const vitepress = join(REPO_ROOT, "node_modules/vitepress/bin/vitepress.js");

await runNode(
  [vitepress, "build", join(REPO_ROOT, "docs")],
  [join(REPO_ROOT, "scripts/docs/reference.ts")],
);
