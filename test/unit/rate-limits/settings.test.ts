import { describe, test } from "vitest";
import { readSettings } from "../../../src/lib/settings.ts";
import { type LimitOverrides, rateLimitSettings } from "../../../src/rate-limits/settings.ts";

const WORKSPACE = "6f1c6a52-0f0e-4a3c-9a54-2f1f6a1c2b3d";

function parseLimitOverrides(value: unknown): LimitOverrides {
  return readSettings(rateLimitSettings, { RATE_LIMIT_OVERRIDES: value }).rateLimitOverrides;
}

describe("limits of single workspaces", () => {
  test("can be a table, its JSON, or nothing", ({ expect }) => {
    const table = { [WORKSPACE.toUpperCase()]: { "runs-query": { count: 100, seconds: 10 } } };
    const limits = new Map([[WORKSPACE, new Map([["runs-query", { count: 100, seconds: 10 }]])]]);
    expect(parseLimitOverrides(table)).toEqual(limits);
    expect(parseLimitOverrides(JSON.stringify(table))).toEqual(limits);
    for (const nothing of [undefined, "", {}]) expect(parseLimitOverrides(nothing).size).toBe(0);
  });

  test.for([
    ["acme", { default: { count: 1, seconds: 1 } }, "acme"],
    [WORKSPACE, { queries: { count: 1, seconds: 1 } }, "queries"],
    [WORKSPACE, { "runs-query-user": { count: 1, seconds: 1 } }, "runs-query-user"],
    [WORKSPACE, { public: { count: 1, seconds: 1 } }, "public"],
    [WORKSPACE, { default: { count: 0, seconds: 10 } }, `${WORKSPACE}"].default.count`],
    [WORKSPACE, { default: { count: 10 } }, `${WORKSPACE}"].default.seconds`],
    [WORKSPACE, { default: { count: 10, seconds: 1.5 } }, `${WORKSPACE}"].default.seconds`],
    [WORKSPACE, { default: { count: 10, seconds: 10, burst: 2 } }, "burst"],
    [
      WORKSPACE,
      { "runs-multipart": { count: 5999, seconds: 10 } },
      `${WORKSPACE}"]["runs-multipart"]`,
    ],
    [
      WORKSPACE,
      { "runs-multipart": { count: 6000, seconds: 11 } },
      `${WORKSPACE}"]["runs-multipart"]`,
    ],
  ] as const)(
    "are refused with the name of the wrong entry: %s %j",
    ([workspace, limits, name], { expect }) => {
      const parse = (): unknown => parseLimitOverrides({ [workspace]: limits });
      expect(parse).toThrow("RATE_LIMIT_OVERRIDES");
      expect(parse).toThrow(name);
    },
  );

  test("can raise multipart ingest", ({ expect }) => {
    const raised = { "runs-multipart": { count: 12_000, seconds: 11 } };
    expect(parseLimitOverrides({ [WORKSPACE]: raised }).get(WORKSPACE)?.size).toBe(1);
  });

  test("are refused if the text is not JSON", ({ expect }) => {
    expect(() => parseLimitOverrides("runs-query = 100")).toThrow("RATE_LIMIT_OVERRIDES");
  });
});
