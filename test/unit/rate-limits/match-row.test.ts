import { describe, test } from "vitest";
import { matchingRows } from "../../../src/rate-limits/match-row.ts";
import { LIMIT_ROWS } from "../../../src/rate-limits/policy.ts";

const RUN = "6f1c6a52-0f0e-4a3c-9a54-2f1f6a1c2b3d";
const DEFAULTS = ["default", "default-user", "public"];

/** Returns all matching rows except those that match everything. */
function special(method: string, path: string): string[] {
  const names = [...matchingRows(method, path)].map(({ name }) => name);
  return names.filter((name) => !DEFAULTS.includes(name));
}

describe("matchingRows", () => {
  test.for([
    "/runs/query",
    "/api/v1/runs/query",
    "/api/v1/runs/query/",
    "/api/v1//runs/query",
    "/api/v1/%72uns/quer%79",
    "/api/v2/runs/query",
    "/v2/runs/query",
  ])("recognises a path however it is written: %s", (path, { expect }) => {
    expect(special("POST", path)).toEqual(["runs-query", "runs-query-user"]);
  });

  test.for([
    ["GET", "/api/v1/runs/query"],
    ["POST", "/api/v1/runs/queryX"],
    ["POST", "/api/v2/runs"],
    ["POST", "/api/v1/x/runs/query"],
    ["POST", "/api/v1/runs/query/more"],
    ["GET", "/api/v1/runs/not-a-uuid"],
    ["GET", `/api/v1/runs/${RUN}/share`],
    ["POST", "/api/v1/sessions"],
    ["GET", "/api/v1/charts"],
    ["GET", "/api/v1/authors"],
    ["GET", "/%zz"],
    ["PURGE", "/api/v1/sessions"],
  ] as const)(
    "uses the default rows for a request that no other row names: %s %s",
    ([method, path], { expect }) => {
      expect(special(method, path)).toEqual([]);
    },
  );

  test("counts a HEAD as a GET", ({ expect }) => {
    expect(special("HEAD", `/api/v1/runs/${RUN.toUpperCase()}`)).toEqual(["run-lookup"]);
  });

  test.for([
    ["PATCH", `/api/v1/runs/${RUN}`, ["runs-update"]],
    ["PATCH", `/api/v1/annotation-queues/q/runs/${RUN}`, ["runs-update"]],
    ["PATCH", "/api/v1/reruns", []],
    ["GET", "/api/v1/datasets/d/examples/e", ["examples"]],
    ["POST", "/api/v1/charts/section/s", ["charts", "charts-user"]],
    ["DELETE", `/api/v1/sessions/${RUN}`, ["deletion", "deletion-user"]],
    ["POST", `/api/v1/runs/rules/${RUN}/trigger`, ["deletion", "deletion-user"]],
    ["GET", "/v2/auth/tokens", ["auth", "auth-user"]],
    ["POST", "/api/v1/metadata/submit", ["service"]],
    ["OPTIONS", "/api/v1/runs/query", ["service"]],
  ] as const)("counts %s %s by %s", ([method, path, rows], { expect }) => {
    expect(special(method, path)).toEqual(rows);
  });

  test("tries the rows that match everything last, in the table's order", ({ expect }) => {
    const names = [...matchingRows("POST", "/api/v1/runs/stats")].map(({ name }) => name);
    expect(names).toEqual(["runs-stats", ...DEFAULTS]);
  });

  test("has unique names of rows, and the highest limit of any key for multipart ingest", ({
    expect,
  }) => {
    expect(new Set(LIMIT_ROWS.map(({ name }) => name)).size).toBe(LIMIT_ROWS.length);
    const highest = LIMIT_ROWS.toSorted(
      (left, right) => right.us.count / right.us.seconds - left.us.count / left.us.seconds,
    );
    expect(highest[0]?.name).toBe("runs-multipart");
  });
});
