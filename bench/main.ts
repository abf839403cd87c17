import { readdirSync } from "node:fs";
import type { BenchResult } from "./support/bench-result.ts";

const SUFFIX = ".bench.ts";

// A tracer would send every measured run over the network.
for (const name of Object.keys(process.env)) {
  if (/^(?:LANGSMITH|LANGCHAIN|LANGGRAPH)_/.test(name)) delete process.env[name];
}
// By default LangChain calls its handlers from one queue per process. Graphs that stream at the same time then end
// before that queue has reached their last chunks, and lose them.
process.env["LANGCHAIN_CALLBACKS_BACKGROUND"] = "false";

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length));
const name = process.argv[2];

if (name === undefined || !names.includes(name)) {
  console.error(`usage: npm run bench -- <name>, one of: ${names.join(", ")}`);
  process.exit(2);
}

try {
  const { run } = (await import(`./${name}${SUFFIX}`)) as { run: () => Promise<BenchResult> };
  const { ratios } = await run();
  console.log(JSON.stringify({ bench: name, ratios }));
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
