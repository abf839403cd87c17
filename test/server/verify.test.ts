import { describe } from "vitest";
import { testWithServer, type TestServer } from "../support/server.ts";
import { makeWorkspace } from "../support/workspaces.ts";
import { AnswerChecks } from "../verify/fuzz/answers.ts";
import { fuzz } from "../verify/fuzz/fuzz.ts";
import { type ApiDocument, operationsOf, readDocument } from "../verify/fuzz/document.ts";
import { furnish } from "../verify/tenants/furnish.ts";
import { tenantMatrix } from "../verify/tenants/tenants.ts";

/** A slice of `npm run verify`, which is the same in every run. */
const SEED = 20261122;
const REQUESTS = 1000;
const REQUESTS_PER_OPERATION = 2;
/** This is not about speed: it ends requests that hang. */
const HANG_MS = 60_000;

const test = testWithServer();

async function furnished(server: TestServer, name: string) {
  const { apiKey } = await makeWorkspace(server, name);
  return furnish({ url: server.url, apiKey }, server.s3);
}

test("no documented request, or nearly documented one, has a wrong answer", async ({
  server,
  expect,
}) => {
  const { target, ids } = await furnished(server, "fuzz");
  const options = { seed: SEED, requests: REQUESTS, hangMs: HANG_MS, ids };
  const { problems, figures } = await fuzz(target, options);
  expect(problems).toEqual([]);
  const succeeded = Number(figures.find(([what]) => what === "2xx")?.[1]);
  expect(succeeded).toBeGreaterThan(REQUESTS / 10);
});

test("no operation reveals whether another workspace's resources exist", async ({
  server,
  expect,
}) => {
  const tenants = {
    owner: await furnished(server, "owner"),
    other: await furnished(server, "other"),
    twin: await furnished(server, "twin"),
  };
  const options = { seed: SEED, requestsPerOperation: REQUESTS_PER_OPERATION };
  const { problems, figures } = await tenantMatrix(tenants, options);
  expect(problems).toEqual([]);
  expect(Number(figures.find(([what]) => what === "operations")?.[1])).toBeGreaterThan(90);
});

describe("the check reports an answer", () => {
  async function check(
    server: TestServer,
    answer: { status: number; type?: string; text: string },
  ) {
    const document: ApiDocument = await readDocument(server.url);
    const operation = operationsOf(document).find(
      ({ method, path }) => method === "GET" && path === "/threads/{thread_id}",
    );
    if (operation === undefined) throw new Error("The document has no such operation");
    const { type = "application/json", ...rest } = answer;
    return new AnswerChecks(document).problemOf(operation, { type, ...rest });
  }

  test("with a status above 499, or an undocumented one", async ({ server, expect }) => {
    expect(await check(server, { status: 500, text: '{"detail":"x"}' })).toMatch(/^gave 500/);
    expect(await check(server, { status: 302, text: "" })).toMatch(/does not know/);
  });

  test("with another type or body than documented", async ({ server, expect }) => {
    expect(await check(server, { status: 404, text: '{"detail":"x"}' })).toBe(null);
    expect(await check(server, { status: 404, type: "text/html", text: "x" })).toMatch(
      /instead of/,
    );
    expect(await check(server, { status: 404, text: '{"error":"x"}' })).toMatch(
      /not as documented/,
    );
    expect(await check(server, { status: 200, text: "{" })).toMatch(/no JSON/);
    expect(await check(server, { status: 200, text: '{"thread_id":7}' })).toMatch(
      /not as documented/,
    );
  });
});
