import { describe } from "vitest";
import { type Answer, answerOf, send } from "../support/http.ts";
import type { TestServer } from "../support/server.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { MISSING_ID, UUID } from "../support/uuid.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspaces.ts";

const PATH = "/api/v1/model-price-map";

const test = testWithSharedServer().extend(
  "workspace",
  async ({ server }): Promise<TestWorkspace> => makeWorkspace(server, "prices"),
);

const HOUSE = {
  name: "House model",
  match_pattern: "^house-model$",
  prompt_cost: 0.000_002,
  completion_cost: "0.000003",
};

type Price = { id: string; name: string; tenant_id: string | null; provider: string | null };

type Call = (method: string, path?: string, body?: unknown) => Promise<Answer>;

function caller(server: TestServer, { apiKey }: TestWorkspace): Call {
  return (method, path = "", body) =>
    send(server, method, `${PATH}${path}`, body, { "x-api-key": apiKey });
}

async function create(call: Call, body: object): Promise<Price> {
  const { status, body: created } = await call("POST", "", body);
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(created)}`);
  return created as Price;
}

async function list(call: Call, query = ""): Promise<Price[]> {
  const { status, body } = await call("GET", query);
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body as Price[];
}

describe("creating a model price", () => {
  test("keeps all given fields", async ({ server, workspace, expect }) => {
    const call = caller(server, workspace);
    const created = await create(call, {
      ...HOUSE,
      match_path: ["deployment", "model"],
      provider: "openai",
      start_time: "2026-08-01T12:00:00+02:00",
      prompt_cost_details: { cache_read: 1e-7, audio: "0.00001" },
      completion_cost_details: { reasoning: "5E-6" },
    });
    expect(created).toEqual({
      id: expect.stringMatching(UUID),
      tenant_id: workspace.id,
      name: "House model",
      match_pattern: "^house-model$",
      match_path: ["deployment", "model"],
      provider: "openai",
      start_time: "2026-08-01T10:00:00.000Z",
      prompt_token_threshold: null,
      prompt_cost: "0.000002",
      completion_cost: "0.000003",
      prompt_cost_details: { cache_read: "0.0000001", audio: "0.00001" },
      completion_cost_details: { reasoning: "0.000005" },
    });
    expect((await list(call))[0]).toEqual(created);
  });

  test("sets defaults for missing fields", async ({ server, workspace, expect }) => {
    const created = await create(caller(server, workspace), { ...HOUSE, provider: null });
    expect(created).toMatchObject({
      match_path: ["model", "model_name", "model_id", "model_path", "endpoint_name"],
      provider: null,
      start_time: null,
      prompt_cost_details: null,
      completion_cost_details: null,
    });
  });

  test.for([
    [{ name: undefined }, ["name"], "Field required"],
    [{ name: "" }, ["name"], "String should have at least 1 characters"],
    [{ prompt_cost: undefined }, ["prompt_cost"], "Field required"],
    [{ prompt_cost: -1 }, ["prompt_cost"], "Input should be greater than or equal to 0"],
    [{ prompt_cost: "cheap" }, ["prompt_cost"], "Input should be a valid decimal"],
    [{ prompt_cost: 1001 }, ["prompt_cost"], "Input should be less than or equal to 1000"],
    [{ prompt_cost: "1e-31" }, ["prompt_cost"], "Input should have at most 30 decimals"],
    [
      { prompt_cost_details: { audio: "x" } },
      ["prompt_cost_details", "audio"],
      "Input should be a valid decimal",
    ],
    [
      { match_pattern: "(a" },
      ["match_pattern"],
      "Input should be a supported regular expression: missing ) (at 2)",
    ],
    [
      { match_pattern: "((a*)*)*" },
      ["match_pattern"],
      "Input should be a supported regular expression: its repetitions are nested too deep",
    ],
    [{ match_path: [] }, ["match_path"], "List should have at least 1 items"],
    [{ start_time: "soon" }, ["start_time"], "Input should be a valid datetime"],
  ] as const)("refuses %j", async ([change, loc, msg], { server, workspace, expect }) => {
    const answer = await answerOf(caller(server, workspace)("POST", "", { ...HOUSE, ...change }));
    expect(answer).toEqual({
      status: 422,
      body: { detail: [{ loc: ["body", ...loc], msg, type: expect.any(String) }] },
    });
  });

  test("refuses a second price for the same models", async ({ server, workspace, expect }) => {
    const call = caller(server, workspace);
    await create(call, HOUSE);
    expect(await answerOf(call("POST", "", { ...HOUSE, prompt_cost: 1 }))).toEqual({
      status: 409,
      body: {
        detail:
          "There is a model price with the same name, match_pattern, match_path, provider, start_time",
      },
    });
    await create(call, { ...HOUSE, start_time: "2026-08-01" });
    await create(call, { ...HOUSE, provider: "openai" });
    expect((await list(call, "?q=house")).length).toBe(3);
  });
});

describe("listing model prices", () => {
  test("has the workspace's own ones first, then the built-in ones", async ({
    server,
    workspace,
    expect,
  }) => {
    const call = caller(server, workspace);
    const first = await create(call, HOUSE);
    const second = await create(call, { ...HOUSE, name: "Another" });
    const { headers, body } = await call("GET");
    const prices = body as Price[];
    expect(prices.slice(0, 2)).toEqual([second, first]);
    expect(prices.length).toBe(100);
    expect(new Set(prices.slice(2).map(({ tenant_id }) => tenant_id))).toEqual(new Set([null]));
    expect(Number(headers.get("x-pagination-total"))).toBeGreaterThan(1000);
    const next = await list(call, "?offset=1&limit=2");
    expect(next).toEqual(prices.slice(1, 3));
  });

  test("searches parts of the name, the pattern and the provider", async ({
    server,
    workspace,
    expect,
  }) => {
    const call = caller(server, workspace);
    const own = await create(call, { ...HOUSE, provider: "Our-Provider" });
    for (const q of ["HOUSE%20MODEL", "house-model$", "our-prov"]) {
      expect(await list(call, `?q=${q}`)).toEqual([own]);
    }
    const groq = await list(call, "?q=groq");
    expect(groq.map(({ provider }) => provider)).toContain("groq");
    expect(await list(call, "?q=no-such-model")).toEqual([]);
  });

  test("gives built-in prices stable ids", async ({ server, workspace, expect }) => {
    const found = await list(caller(server, workspace), "?q=gpt-4o-2024-08-06&limit=1000");
    expect(found).toContainEqual({
      id: "fbedb0c6-99bb-5420-afb1-a92d0bb0d2b6",
      tenant_id: null,
      name: "gpt-4o",
      match_pattern: "(?i)^(?:openai/)?(?:gpt-4o|gpt-4o-2024-08-06|gpt-4o-2024-11-20)$",
      match_path: ["model", "model_name", "model_id", "model_path", "endpoint_name"],
      provider: null,
      start_time: null,
      prompt_token_threshold: null,
      prompt_cost: "0.0000025",
      completion_cost: "0.00001",
      prompt_cost_details: { cache_read: "0.00000125" },
      completion_cost_details: null,
    });
  });

  test.for(["?limit=0", "?limit=1001", "?offset=-1", "?limit=x"])(
    "refuses %s",
    async (query, { server, workspace, expect }) => {
      expect((await caller(server, workspace)("GET", query)).status).toBe(422);
    },
  );
});

describe("replacing a model price", () => {
  test("resets missing fields", async ({ server, workspace, expect }) => {
    const call = caller(server, workspace);
    const { id } = await create(call, {
      ...HOUSE,
      provider: "openai",
      start_time: "2026-08-01",
      prompt_cost_details: { audio: 1 },
    });
    const replaced = await answerOf(call("PUT", `/${id}`, { ...HOUSE, completion_cost: 0 }));
    expect(replaced).toEqual({
      status: 200,
      body: {
        id,
        tenant_id: workspace.id,
        name: "House model",
        match_pattern: "^house-model$",
        match_path: ["model", "model_name", "model_id", "model_path", "endpoint_name"],
        provider: null,
        start_time: null,
        prompt_token_threshold: null,
        prompt_cost: "0.000002",
        completion_cost: "0",
        prompt_cost_details: null,
        completion_cost_details: null,
      },
    });
    expect((await list(call, "?q=house"))[0]).toEqual(replaced.body);
  });

  test("refuses models for which there is another price", async ({ server, workspace, expect }) => {
    const call = caller(server, workspace);
    await create(call, HOUSE);
    const { id } = await create(call, { ...HOUSE, name: "Another" });
    expect((await call("PUT", `/${id}`, HOUSE)).status).toBe(409);
    expect((await call("PUT", `/${id}`, { ...HOUSE, name: "Another" })).status).toBe(200);
  });
});

describe("deleting a model price", () => {
  test("succeeds, also when it is repeated", async ({ server, workspace, expect }) => {
    const call = caller(server, workspace);
    const { id } = await create(call, HOUSE);
    for (let round = 0; round < 2; round += 1) {
      expect(await answerOf(call("DELETE", `/${id}`))).toEqual({ status: 200, body: {} });
      expect(await list(call, "?q=house")).toEqual([]);
    }
  });
});

test("built-in prices cannot be changed", async ({ server, workspace, expect }) => {
  const call = caller(server, workspace);
  const [builtIn] = await list(call, "?q=gpt-4o&limit=1");
  const refused = {
    status: 403,
    body: {
      detail:
        "A built-in model price cannot be changed: create one with the same match_pattern, which then applies instead",
    },
  };
  expect(await answerOf(call("PUT", `/${builtIn?.id}`, HOUSE))).toEqual(refused);
  expect(await answerOf(call("DELETE", `/${builtIn?.id}`))).toEqual(refused);
});

describe("another workspace's price", () => {
  test("is treated like a missing one", async ({ server, workspace, expect }) => {
    const call = caller(server, workspace);
    const other = caller(server, await makeWorkspace(server, "other"));
    const theirs = await create(other, HOUSE);
    const { id } = theirs;
    const missing = { status: 404, body: { detail: "Model price not found" } };
    expect(await answerOf(call("PUT", `/${MISSING_ID}`, HOUSE))).toEqual(missing);
    expect(await answerOf(call("PUT", `/${id}`, HOUSE))).toEqual(missing);
    expect((await call("DELETE", `/${id}`)).status).toBe(200);
    expect(await list(call, "?q=house")).toEqual([]);
    expect(await list(other, "?q=house")).toEqual([theirs]);
  });
});
