/**
 * What wrangler runs before it bundles the Worker: `[build]` in wrangler.toml. For `wrangler dev` it
 * prepares the local state; whatever is deployed has its database migrated by `npm run deploy` alone.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { exitWith, REPO_ROOT, SetupError } from "./setup.mjs";
import { runNode } from "./run-node.mjs";

const BUILT = ["project.js", "templates.js", "console/index.html"].map((name) =>
  join(REPO_ROOT, ".threadworks", name),
);

// wrangler says for which of its commands it bundles.
const command = process.env.WRANGLER_COMMAND;

// The types of the Worker's bindings do not depend on the graphs.
if (command !== "types" && !BUILT.every((file) => existsSync(file))) {
  exitWith(
    new SetupError(
      "the graphs and the console are not built yet: run npm run build first, of another project with -- --config <path>",
    ),
  );
}
if (command === "dev") await runNode([join(REPO_ROOT, "cli/prepare-dev.ts")]);
