import { test } from "vitest";
import { storedMessage } from "../../../src/deployment-log/log-line.ts";

test("a message of up to 8192 characters is stored unchanged", ({ expect }) => {
  for (const message of ["", "x\u0000\u001B[31m", "x".repeat(8192)]) {
    expect(storedMessage(message)).toBe(message);
  }
});

test("a longer message is cut with a note, and never within a character", ({ expect }) => {
  expect(storedMessage("x".repeat(8193))).toBe(`${"x".repeat(8169)} [cut: 8193 characters]`);
  const cut = storedMessage(`x${"\u{1F600}".repeat(5000)}`);
  expect(cut).toBe(`x${"\u{1F600}".repeat(4083)} [cut: 10001 characters]`);
  expect(cut.isWellFormed()).toBe(true);
});

test("lone surrogates become replacement characters", ({ expect }) => {
  expect(storedMessage("a\uD800b")).toBe("a\uFFFDb");
});
