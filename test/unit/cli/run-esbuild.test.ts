import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const MODULE = join(import.meta.dirname, "../../../cli/project/run-esbuild.ts");

/** Bundles nothing, then prints the value of the variable in the bundler's process and in this one. */
const SCRIPT = `
import { readdirSync, readFileSync } from "node:fs";
import { runEsbuild } from ${JSON.stringify(MODULE)};
await runEsbuild({ stdin: { contents: "" }, write: false });
const children = readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).filter((name) => {
  try {
    return readFileSync("/proc/" + name + "/stat", "utf8").split(") ")[1].split(" ")[1] === String(process.pid);
  } catch {
    return false;
  }
});
const given = children.map((name) => /(?:^|\\0)GOGC=([^\\0]*)/.exec(readFileSync("/proc/" + name + "/environ", "utf8"))?.[1]);
console.log(JSON.stringify({ given, own: process.env.GOGC ?? null }));
process.exit(0);
`;

function bundled(env: Record<string, string>): unknown {
  const { GOGC: _, ...others } = process.env;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", SCRIPT],
    { env: { ...others, ...env }, encoding: "utf8" },
  );
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout);
}

describe.runIf(process.platform === "linux")("the bundler's process", () => {
  test("collects garbage less often, without a change of its parent's environment", () => {
    expect(bundled({})).toEqual({ given: ["400"], own: null });
  });

  test("uses the value that the user has set", () => {
    expect(bundled({ GOGC: "50" })).toEqual({ given: ["50"], own: "50" });
  });
});
