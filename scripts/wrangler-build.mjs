/**
 * The `[build]` command in wrangler.toml, which wrangler runs before it bundles the Worker. For `wrangler
 * dev` it prepares the local state. Deployed databases are migrated only by `npm run deploy`.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { exitWith, REPO_ROOT, SetupError } from "./setup.mjs";
import { runNode } from "./run-node.mjs";

const BUILT = ["project.js", "templates.js", "console/index.html"].map((name) =>
  join(REPO_ROOT, ".threadworks", name),
);

// wrangler sets this to the command for which it bundles.
const command = process.env.WRANGLER_COMMAND;

// The types of the Worker's bindings do not depend on the graphs.
if (command !== "types" && !BUILT.every((file) => existsSync(file))) {
  exitWith(
    new SetupError(
      "the graphs and the console are not built yet: run npm run build first (for another project, add -- --config <path>)",
    ),
  );
}
if (command === "dev") await runNode([join(REPO_ROOT, "cli/prepare-dev.ts")]);
