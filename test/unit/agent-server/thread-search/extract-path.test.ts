import { describe, test } from "vitest";
import {
  followPath,
  parseExtractPath,
} from "../../../../src/agent-server/thread-search/extract-path.ts";

describe("parseExtractPath", () => {
  test.for([
    ["values", { root: "values", steps: [] }],
    ["values.messages[-1].content", { root: "values", steps: ["messages", -1, "content"] }],
    ["metadata.owner id", { root: "metadata", steps: ["owner id"] }],
    ["interrupts.a-b[0][2]", { root: "interrupts", steps: ["a-b", 0, 2] }],
    ["config.configurable.__proto__", { root: "config", steps: ["configurable", "__proto__"] }],
  ] as const)("reads %s", ([text, path], { expect }) => {
    expect(parseExtractPath(text)).toEqual(path);
  });

  test.for([
    "",
    "status",
    "valuesx.a",
    "values.",
    "values..a",
    "values[a]",
    "values[1",
    "values]",
    "values[]",
    "$.values",
  ])("refuses %j", (text, { expect }) => {
    expect(parseExtractPath(text)).toBeNull();
  });
});

describe("followPath", () => {
  const values = { messages: [{ content: "a" }, { content: "b" }], zero: 0, off: false };

  test.for([
    [["messages", -1, "content"], "b"],
    [["messages", 0, "content"], "a"],
    [["zero"], 0],
    [["off"], false],
    [["messages", 5], null],
    [["messages", "length"], null],
    [["constructor"], null],
    [["zero", "toFixed"], null],
    [[0], null],
  ] as const)("follows %j", ([steps, found], { expect }) => {
    expect(followPath(values, [...steps])).toEqual(found);
  });
});
