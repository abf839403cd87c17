import { describe, test } from "vitest";
import { type CodeTrace, linesOfTrace } from "../../../src/revision-host/trace-lines.ts";

const NOW = 5000;

const QUIET: CodeTrace = {
  eventTimestamp: 1000,
  logs: [],
  exceptions: [],
  outcome: "ok",
  truncated: false,
};

function linesOf(trace: Partial<CodeTrace>): [number, string, string][] {
  const lines = linesOfTrace({ ...QUIET, ...trace }, "r", NOW);
  return lines.map(({ timestamp, level, message }) => [timestamp, level, message]);
}

function textOf(message: unknown, errorInfo?: CodeTrace["logs"][number]["errorInfo"]): string {
  const call = { timestamp: 1, level: "log", message };
  const [line] = linesOf({ logs: [errorInfo === undefined ? call : { ...call, errorInfo }] });
  return line?.[2] ?? "";
}

describe("linesOfTrace", () => {
  test("has a line for each console call, with its level", ({ expect }) => {
    const levels = ["debug", "trace", "log", "info", "warn", "error", "fancy"];
    const logs = levels.map((level, index) => ({ timestamp: index, level, message: [level] }));
    expect(linesOf({ logs })).toEqual([
      [0, "DEBUG", "debug"],
      [1, "DEBUG", "trace"],
      [2, "INFO", "log"],
      [3, "INFO", "info"],
      [4, "WARNING", "warn"],
      [5, "ERROR", "error"],
      [6, "INFO", "fancy"],
    ]);
  });

  test("has the ids of the server and the revision", ({ expect }) => {
    const logs = [{ timestamp: 7, level: "log", message: ["x"] }];
    expect(linesOfTrace({ ...QUIET, logs }, "the revision", NOW)).toEqual([
      { kind: "server", revision_id: "the revision", timestamp: 7, level: "INFO", message: "x" },
    ]);
  });

  test.for([
    [["a", 1, null, true], "a 1 null true"],
    [["got", { a: [1, "x"] }], 'got {"a":[1,"x"]}'],
    [[{ a: "%s" }, "x"], '{"a":"%s"} x'],
    [["%s is %d", "x", 1, "and more"], "x is 1 and more"],
    [["%s", { a: 1 }], '{"a":1}'],
    [["100% sure"], "100% sure"],
    [[], ""],
    ["bare", "bare"],
  ] as const)("writes %j in the form that a reader expects", ([message, text], { expect }) => {
    expect(textOf(message)).toBe(text);
  });

  test("shows the stack of an error", ({ expect }) => {
    const stack = "    at f (project.js:1:2)";
    const error = { name: "TypeError", message: "no %s", stack };
    expect(textOf(["TypeError: no %s"], [error])).toBe(`TypeError: no %s\n${stack}`);
    expect(textOf(["failed:", "TypeError: no"], [null, error])).toBe(
      `failed: TypeError: no %s\n${stack}`,
    );
    expect(textOf(["Error"], [{ name: "Error", message: "" }])).toBe("Error");
  });

  test("includes uncaught errors, in their place", ({ expect }) => {
    const logs = [10, 30].map((timestamp) => ({ timestamp, level: "log", message: [timestamp] }));
    const exceptions = [{ timestamp: 20, name: "RangeError", message: "bad", stack: "    at f" }];
    expect(linesOf({ logs, exceptions, outcome: "exception" })).toEqual([
      [10, "INFO", "10"],
      [20, "ERROR", "Uncaught RangeError: bad\n    at f"],
      [30, "INFO", "30"],
    ]);
  });

  test.for([
    ["exceededCpu", "The call was ended: it exceeded the CPU time limit (exceededCpu)"],
    ["exceededMemory", "The call was ended: it exceeded the memory limit (exceededMemory)"],
    ["exception", "The call ended with an exception"],
  ] as const)("describes the outcome %s", ([outcome, text], { expect }) => {
    expect(linesOf({ outcome })).toEqual([[NOW, "ERROR", text]]);
  });

  test("has no line for a normal end", ({ expect }) => {
    expect(
      ["ok", "canceled", "responseStreamDisconnected"].map((outcome) => linesOf({ outcome })),
    ).toEqual([[], [], []]);
  });

  test("reports missing output", ({ expect }) => {
    const logs = [{ timestamp: 10, level: "log", message: ["x"] }];
    expect(linesOf({ logs, truncated: true })).toEqual([
      [10, "INFO", "x"],
      [10, "WARNING", "The call's console output was cut off because it was too long"],
    ]);
    expect(linesOf({ truncated: true })).toHaveLength(1);
  });
});
