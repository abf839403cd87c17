import { describe, expect, test } from "vitest";
import { leftTarget } from "../../../../src/agent-server/auth/store-target.ts";

const TARGET = { namespace: ["notes"], key: "k", value: { text: "x" } };

describe("what a handler left of an item", () => {
  test("takes the place of what was asked for", () => {
    const left = { namespace: ["ada", "notes"], key: "other", value: { owner: "ada" } };
    expect(leftTarget("store:put", TARGET, left)).toEqual(left);
  });

  test("adds nothing that the event is not about", () => {
    const left = { namespace: ["ada"], key: "k", value: { owner: "ada" } };
    expect(leftTarget("store:search", { namespace: [] }, left)).toEqual({ namespace: ["ada"] });
  });

  test("is demanded of a host, which may be too old to tell", () => {
    expect(() => leftTarget("store:get", TARGET, undefined)).toThrow("deploy the project again");
  });

  test.for([
    null,
    {},
    { namespace: "ada" },
    { namespace: null },
    { namespace: [1] },
    { namespace: ["ada"], key: 1 },
    { namespace: ["ada"], key: null },
    { namespace: ["ada"], value: [] },
    { namespace: ["ada"], value: null },
  ])("is refused when it is none: %o", (item) => {
    expect(() => leftTarget("store:put", TARGET, item)).toThrow("left an item that is not valid");
  });
});
