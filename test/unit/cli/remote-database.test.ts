import { test } from "vitest";
import { inlineValues } from "../../../cli/database/remote-database.ts";

test("values become SQL literals", ({ expect }) => {
  expect(inlineValues("INSERT INTO t VALUES (?, ?, ?)", ["it's", 7, null])).toBe(
    "INSERT INTO t VALUES ('it''s', 7, NULL)",
  );
});

test("a question mark inside a value is not a placeholder", ({ expect }) => {
  expect(inlineValues("SELECT ?, ?", ["?", "a"])).toBe("SELECT '?', 'a'");
});

test.for([
  ["SELECT ?", []],
  ["SELECT ?", [1, 2]],
] as const)(
  "the number of values must match the placeholders: %s %j",
  ([sql, values], { expect }) => {
    expect(() => inlineValues(sql, [...values])).toThrow(/values than placeholders/);
  },
);
