/** Runs all checks that are not tests: formatting, lint, types, generated files, and unused code. */
import { exitWith, setUp } from "./setup.mjs";
import { runSteps } from "./steps.mjs";

/** Programs that use all cores: running them side by side would only compete for memory. */
const ALL_CORES = [
  step("lint", "oxlint --type-aware --deny-warnings --report-unused-disable-directives"),
  step("types of src and of the bench in workerd", "tsc -p tsconfig.json"),
  step("types of the console", "tsc -p web/tsconfig.json"),
  step("types of the tools and tests", "tsc -p tsconfig.node.json"),
  step("types of the examples", "tsc -p examples/tsconfig.json"),
  step("types of the tests in workerd", "tsc -p test/worker/tsconfig.json"),
];

const ONE_CORE = [
  step("formatting", "oxfmt --check ."),
  step("regions of wrangler.toml", "node scripts/regions.mjs --check"),
  step("rooms in docs/architecture.md", "node scripts/architecture/draw.ts --check"),
  step(
    "types of the Worker's bindings",
    "wrangler types --include-runtime=false --strict-vars=false --check",
  ),
  step("unused code", "knip"),
];

await setUp().catch(exitWith);
const failed = await runSteps([ALL_CORES, ONE_CORE]);
if (failed.length > 0) {
  process.stderr.write(`\nFailed: ${failed.join(", ")}\n`);
  process.exitCode = 1;
}

function step(name, command) {
  return { name, command: command.split(" ") };
}
