import { describe, test } from "vitest";
import { booleanParam, integerParam, listParam } from "../../../src/http/query-params.ts";

describe("booleanParam", () => {
  test.for([
    ["1", true],
    ["true", true],
    ["True", true],
    ["yes", true],
    ["0", false],
    ["false", false],
    ["no", false],
  ] as const)("reads %s as %s", ([text, value], { expect }) => {
    expect(booleanParam().parse(text)).toBe(value);
  });

  test.for(["", "2", "on", "truthy"])("refuses %j", (text, { expect }) => {
    expect(booleanParam().safeParse(text).success).toBe(false);
  });
});

describe("integerParam", () => {
  test("reads whole numbers within its bounds", ({ expect }) => {
    expect(integerParam({ min: 1, max: 10 }).parse("10")).toBe(10);
    expect(integerParam({ min: -5 }).parse("-3")).toBe(-3);
  });

  test.for(["", " 1", "1.5", "1e1", "0x1", "abc", "0", "11", "99999999999999999999"])(
    "refuses %j",
    (text, { expect }) => {
      expect(integerParam({ min: 1, max: 10 }).safeParse(text).success).toBe(false);
    },
  );
});

describe("listParam", () => {
  test("reads one value, a repeated key and a JSON array alike", ({ expect }) => {
    expect(listParam().parse("values")).toEqual(["values"]);
    expect(listParam().parse(["values", "updates"])).toEqual(["values", "updates"]);
    expect(listParam().parse('["values","updates"]')).toEqual(["values", "updates"]);
  });

  test("treats a text that only begins like JSON as a value", ({ expect }) => {
    expect(listParam().parse("[x")).toEqual(["[x"]);
  });

  test("refuses an unknown name", ({ expect }) => {
    expect(listParam(["a", "b"]).parse('["a"]')).toEqual(["a"]);
    expect(listParam(["a", "b"]).safeParse("c").success).toBe(false);
  });
});
