import { describe, test, vi } from "vitest";
import { assistantDefaults } from "../../../src/graph-runtime/assistant-defaults.ts";

describe("LANGGRAPH_CONFIG", () => {
  test("gives each graph a context, and a config of everything else", ({ expect }) => {
    const text = '{"a":{"context":{"k":1},"tags":["t"],"configurable":{"m":2}},"b":{}}';
    expect(assistantDefaults(text)).toEqual({
      a: { config: { tags: ["t"], configurable: { m: 2 } }, context: { k: 1 } },
      b: { config: {}, context: {} },
    });
    expect([assistantDefaults(undefined), assistantDefaults("")]).toEqual([{}, {}]);
  });

  test.for(["no JSON", "[]", "7", '{"a":1}'])(
    "is ignored with a warning if it is invalid: %s",
    (text, { expect }) => {
      const said = vi.spyOn(console, "error").mockImplementation(() => {});
      expect(assistantDefaults(text)).toEqual({});
      expect(said).toHaveBeenCalledWith(expect.stringContaining("LANGGRAPH_CONFIG is ignored"));
      said.mockRestore();
    },
  );
});
