import fc from "fast-check";
import { describe, test } from "vitest";
import { chooseHeaders } from "../../../../src/agent-server/custom-routes/header-choice.ts";

const named = (name: string) => [{ name, value: "v" }];

const isChosen = (name: string, includes: string[], excludes: string[] = []): boolean =>
  Object.keys(chooseHeaders(named(name), { includes, excludes })).length === 1;

describe("a header", () => {
  test.for<[name: string, includes: string[], excludes: string[], result: boolean]>([
    ["x-a", ["x-a"], [], true],
    ["X-A", ["x-a"], [], true],
    ["x-a", ["X-*"], [], true],
    ["x-ab", ["x-a"], [], false],
    ["x-a", ["*"], ["x-a"], false],
    ["x-tenant-id", ["x-*-id"], [], true],
    ["x-id", ["x-*-id"], [], false],
    ["x-id", ["x*d*d"], [], false],
    ["a-b-a", ["a*b*a"], [], true],
    ["x-a", [], [], false],
  ])(
    "%s with includes %j and excludes %j is chosen: %s",
    ([name, includes, excludes, result], { expect }) => {
      expect(isChosen(name, includes, excludes)).toBe(result);
    },
  );

  test("is chosen like by an equivalent regular expression", ({ expect }) => {
    const part = fc.stringMatching(/^[ab*-]{0,8}$/);
    fc.assert(
      fc.property(part, fc.stringMatching(/^[ab-]{0,8}$/), (pattern, name) => {
        const expression = new RegExp(`^${pattern.replaceAll("*", ".*")}$`);
        expect(isChosen(name, [pattern])).toBe(expression.test(name));
      }),
    );
  });
});
