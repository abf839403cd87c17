import { test } from "vitest";
import { runSteps } from "../../../scripts/steps.mjs";

function node(name: string, code: string): { name: string; command: string[] } {
  return { name, command: ["node", "-e", code] };
}

test("every step runs, and the output of a failed step is shown", async ({ expect }) => {
  let printed = "";
  const first = [
    node("good", "console.log('silent')"),
    node("bad", "console.log('what is wrong'); process.exit(3)"),
    node("later", ""),
  ];
  const beside = [{ name: "missing", command: ["threadworks-no-such-program"] }];

  const failed = await runSteps([first, beside], (text: string) => void (printed += text));

  expect(new Set(failed)).toEqual(new Set(["bad", "missing"]));
  const lines = printed.replaceAll(/ +\d+\.\d s {2}/g, " ").split("\n");
  expect(new Set(lines.filter((line) => line !== ""))).toEqual(
    new Set([
      "FAILED bad",
      "FAILED missing",
      "bad failed (exit code 3); see above",
      "missing did not start: spawn threadworks-no-such-program ENOENT",
      "ok good",
      "ok later",
      "what is wrong",
    ]),
  );
});
