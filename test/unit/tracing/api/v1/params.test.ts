import { describe, test } from "vitest";
import { textListParam, uuidListParam } from "../../../../../src/tracing/api/v1/params.ts";

const ID = "0198c0de-0000-7000-8000-00000000000a";
const OTHER = "0198c0de-0000-7000-8000-00000000000b";

describe("uuidListParam", () => {
  const param = uuidListParam();

  test("accepts one or several, in either case", ({ expect }) => {
    expect(param.parse(ID.toUpperCase())).toEqual([ID]);
    expect(param.parse([ID, OTHER])).toEqual([ID, OTHER]);
  });

  test("names an invalid id", ({ expect }) => {
    const paths = (value: unknown) =>
      param.safeParse(value).error?.issues.map(({ path, message }) => [path, message]);
    expect(paths("x")).toEqual([[[], "Input should be a valid UUID"]]);
    expect(paths([ID, "x"])).toEqual([[[1], "Input should be a valid UUID"]]);
  });
});

test("textListParam accepts any texts", ({ expect }) => {
  expect(textListParam().parse('["a"]')).toEqual(['["a"]']);
  expect(textListParam().parse(["a", "b"])).toEqual(["a", "b"]);
});
