import { describe } from "vitest";
import { answerOf, send, toAnswer } from "../support/http.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { documentedRoutes, fill, type Route } from "../support/tenancy.ts";
import { MISSING_ID } from "../support/uuid.ts";

const MAX_BODY_BYTES = 100_000;

const test = testWithServer({ MAX_BODY_BYTES: String(MAX_BODY_BYTES) });

const IDS = {
  assistant_id: "branching",
  thread_id: MISSING_ID,
  run_id: MISSING_ID,
  checkpoint_id: MISSING_ID,
  namespace: "child",
  cron_id: MISSING_ID,
  name: "agent",
  file: "entrypoint.js",
};

const JSON_TYPE = { "content-type": "application/json" };

type Raw = { body: string | Uint8Array<ArrayBuffer>; headers?: Record<string, string> };

/** Sends a request whose body is not made by JSON.stringify. */
async function post(server: TestServer, path: string, { body, headers = JSON_TYPE }: Raw) {
  const response = await server.fetch(path, { method: "POST", body, headers });
  return toAnswer(response);
}

function invalid(loc: (string | number)[], msg: string, type: string) {
  return { status: 422, body: { detail: [{ loc, msg, type }] } };
}

describe("a JSON body", () => {
  test.for([
    ["malformed", '{"metadata": ', 13],
    ["followed by more", '{"metadata": {}} x', 17],
    ["with a trailing comma", '{"metadata": {},}', 16],
  ] as const)("is refused when %s, by position", async ([, body, position], { server, expect }) => {
    const { status, body: answer } = await post(server, "/threads", { body });
    expect([status, answer]).toEqual([
      422,
      {
        detail: [
          {
            loc: ["body", position],
            msg: expect.stringMatching(/^JSON decode error: /),
            type: "json_invalid",
          },
        ],
      },
    ]);
  });

  test("is refused if it is not UTF-8", async ({ server, expect }) => {
    const body = new Uint8Array([...new TextEncoder().encode('{"a": "'), 0xff, 0xfe, 0x22, 0x7d]);
    expect(await answerOf(post(server, "/threads", { body }))).toEqual(
      invalid(["body"], "JSON decode error: not UTF-8", "json_invalid"),
    );
  });

  test.for(["[]", "null", '"text"', "7", "true"])(
    "is refused if it is %s instead of an object",
    async (body, { server, expect }) => {
      expect(await answerOf(post(server, "/threads", { body }))).toEqual(
        invalid(["body"], "Input should be an object", "dict_type"),
      );
    },
  );

  test("is read if it begins with a byte order mark", async ({ server, expect }) => {
    const body = '\u{FEFF}{"metadata": {"a": 1}}';
    expect((await post(server, "/threads", { body })).body).toMatchObject({ metadata: { a: 1 } });
  });
});

describe("a body", () => {
  test("is read as JSON whatever its content type is", async ({ server, expect }) => {
    const body = JSON.stringify({ metadata: { a: 1 } });
    for (const type of ["text/plain", "text/plain;charset=UTF-8", "application/octet-stream"]) {
      const answer = await post(server, "/threads", { body, headers: { "content-type": type } });
      expect(answer.body).toMatchObject({ metadata: { a: 1 } });
    }
    const bytes = new TextEncoder().encode(body);
    const untyped = await post(server, "/threads", { body: bytes, headers: {} });
    expect(untyped.body).toMatchObject({ metadata: { a: 1 } });
  });

  test("counts as an empty object if it is empty", async ({ server, expect }) => {
    const response = await server.fetch("/threads", { method: "POST" });
    expect((await toAnswer(response)).status).toBe(200);
    expect((await post(server, "/threads", { body: "", headers: JSON_TYPE })).status).toBe(200);
    expect(await answerOf(post(server, "/assistants", { body: "" }))).toEqual(
      invalid(["body", "graph_id"], "Field required", "missing"),
    );
  });

  test("may have the largest size, but not one byte more", async ({ server, expect }) => {
    const bodyOf = (size: number) => `{"metadata":{"a":"${"x".repeat(size - 21)}"}}`;
    const tooLarge = {
      status: 413,
      body: { detail: `Request body is larger than ${MAX_BODY_BYTES} bytes` },
    };
    const fits = bodyOf(MAX_BODY_BYTES);
    expect(fits).toHaveLength(MAX_BODY_BYTES);
    expect((await post(server, "/threads", { body: fits })).status).toBe(200);
    const over = bodyOf(MAX_BODY_BYTES + 1);
    expect(await answerOf(post(server, "/threads", { body: over }))).toEqual(tooLarge);
    const streamed = await server.fetch("/threads", {
      method: "POST",
      headers: JSON_TYPE,
      body: new Blob([over]).stream(),
      duplex: "half",
    } as RequestInit);
    expect(await answerOf(toAnswer(streamed))).toEqual(tooLarge);
  });

  test("is refused if it nests too deeply", async ({ server, expect }) => {
    const nested = (depth: number) => `{"metadata":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}`;
    expect((await post(server, "/threads", { body: nested(400) })).status).toBe(200);
    expect(await answerOf(post(server, "/threads", { body: nested(600) }))).toEqual(
      invalid(["body"], "JSON decode error: nested deeper than 500 levels", "json_invalid"),
    );
    const arrays = `{"metadata":{"a":${"[".repeat(15_000)}${"]".repeat(15_000)}}}`;
    expect((await post(server, "/threads", { body: arrays })).status).toBe(422);
  });

  test("does no harm with keys that have a meaning in JavaScript", async ({
    server,
    client,
    expect,
  }) => {
    const body = '{"metadata":{"__proto__":{"admin":true},"constructor":1,"toString":"x"}}';
    const created = await post(server, "/threads", { body });
    expect(created.status).toBe(200);
    const { thread_id } = created.body as { thread_id: string };
    const { metadata } = await client.threads.get(thread_id);
    expect(Object.entries(metadata ?? {})).toEqual([
      ["constructor", 1],
      ["toString", "x"],
    ]);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test("keeps any text", async ({ client, expect }) => {
    const text = 'quotes " \\ and \u2028 \u0000 \u{1F600} \uD800 </script>';
    const { thread_id } = await client.threads.create({ metadata: { text, [text]: 1 } });
    const { metadata } = await client.threads.get(thread_id);
    expect(metadata).toEqual({ text, [text]: 1 });
    expect(await client.threads.search({ metadata: { text } })).toHaveLength(1);
  });
});

describe("a field of the wrong kind", () => {
  const RUN = { assistant_id: "branching" };
  test.for([
    ["/threads", { metadata: "text" }, "metadata", "Input should be an object", "dict_type"],
    ["/threads", { metadata: [1] }, "metadata", "Input should be an object", "dict_type"],
    ["/threads", { thread_id: 7 }, "thread_id", "Input should be a valid string", "string_type"],
    ["/threads", { thread_id: "x" }, "thread_id", "Input should be a valid UUID", "uuid_parsing"],
    [
      "/threads",
      { if_exists: "no" },
      "if_exists",
      "Input should be 'raise' or 'do_nothing'",
      "enum",
    ],
    ["/threads", { ttl: 60 }, "ttl", "Input should be an object", "dict_type"],
    ["/threads/search", { limit: "10" }, "limit", "Input should be a valid number", "float_type"],
    ["/threads/search", { limit: 1.5 }, "limit", "Input should be a valid integer", "int_type"],
    [
      "/threads/search",
      { limit: 0 },
      "limit",
      "Input should be greater than or equal to 1",
      "greater_than_equal",
    ],
    [
      "/threads/search",
      { limit: 1001 },
      "limit",
      "Input should be less than or equal to 1000",
      "less_than_equal",
    ],
    [
      "/threads/search",
      { offset: -1 },
      "offset",
      "Input should be greater than or equal to 0",
      "greater_than_equal",
    ],
    ["/runs", {}, "assistant_id", "Field required", "missing"],
    ["/runs", { ...RUN, metadata: 1 }, "metadata", "Input should be an object", "dict_type"],
    [
      "/runs",
      { ...RUN, webhook: "ftp://a.example", colour: 1 },
      "webhook",
      "Input should be a URL that begins with https:// or http://, or a path that begins with /",
      "value_error",
    ],
    ["/runs", { ...RUN, webhook: 1 }, "webhook", "Input should be a valid string", "string_type"],
    [
      "/runs/stream",
      { ...RUN, webhook: "/threads" },
      "webhook",
      'The project does not take paths as webhooks: they need "disable_loopback": false in "webhooks.url" of its langgraph.json',
      "value_error",
    ],
    [
      "/runs/stream",
      { ...RUN, feedback_keys: "x" },
      "feedback_keys",
      "Input should be a valid list",
      "list_type",
    ],
    [
      "/runs/wait",
      { ...RUN, langsmith_tracer: "mine" },
      "langsmith_tracer",
      "Input should be an object",
      "dict_type",
    ],
    [
      "/runs",
      { ...RUN, multitask_strategy: "x" },
      "multitask_strategy",
      "Input should be 'reject', 'rollback', 'interrupt' or 'enqueue'",
      "enum",
    ],
    [
      "/runs",
      { ...RUN, stream_resumable: "yes" },
      "stream_resumable",
      "Input should be a valid boolean",
      "bool_type",
    ],
  ] as const)("%s %j is named", async ([path, body, field, msg, type], { server, expect }) => {
    expect(await answerOf(send(server, "POST", path, body))).toEqual(
      invalid(["body", field], msg, type),
    );
  });

  test.for([
    { limit: 1e300 },
    { limit: Number.MAX_SAFE_INTEGER },
    { offset: 1e21 },
    { ids: Array(2000).fill(MISSING_ID) },
    { ids: ["x"] },
    { status: "happy" },
    { sort_by: "thread_id; DROP TABLE threads" },
    { select: ["workspace_id"] },
    { metadata: Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [index, index])) },
  ])("is refused in a search: %#", async (search, { server, expect }) => {
    expect((await send(server, "POST", "/threads/search", search)).status).toBe(422);
  });

  test.for([
    { config: { recursion_limit: 0 } },
    { config: { recursion_limit: 2.5 } },
    { config: { recursion_limit: 1e21 } },
    { config: { configurable: [] } },
    { config: { run_name: 7 } },
    { config: { max_concurrency: 0 } },
    { stream_mode: "everything" },
    { stream_mode: ["values", "everything"] },
    { command: { goto: { node: 7 } } },
    { command: [] },
    { checkpoint: { checkpoint_id: 7 } },
    { interrupt_before: "first" },
    { interrupt_after: [7] },
    { after_seconds: -1 },
    { after_seconds: 1e12 },
    { after_seconds: "soon" },
    { durability: "forever" },
    { on_disconnect: "shrug" },
    { if_not_exists: "maybe" },
    { assistant_id: 7 },
    { assistant_id: "" },
  ])("is refused in a run: %j", async (fields, { server, expect }) => {
    const body = { assistant_id: "branching", ...fields };
    const { status, body: answer } = await send(
      server,
      "POST",
      `/threads/${MISSING_ID}/runs`,
      body,
    );
    expect([status, answer]).toEqual([422, { detail: expect.any(Array) }]);
  });

  test.for([
    ["/threads/{id}/history?limit=ten", "limit", "Input should be a valid integer", "int_parsing"],
    [
      "/threads/{id}/state?subgraphs=7",
      "subgraphs",
      "Input should be a valid boolean",
      "bool_parsing",
    ],
    [
      "/threads/{id}/runs?limit=99999999999999999999",
      "limit",
      "Input should be a valid integer",
      "int_parsing",
    ],
  ] as const)("in the query is named: %s", async ([path, field, msg, type], { server, expect }) => {
    const answer = answerOf(send(server, "GET", path.replace("{id}", MISSING_ID)));
    expect(await answer).toEqual(invalid(["query", field], msg, type));
  });
});

describe("an id", () => {
  test("is refused by every route if it is not a UUID", async ({ server, expect }) => {
    const bad = { ...IDS, thread_id: "not-a-uuid", run_id: "1" };
    for (const { method, path } of await agentRoutes(server)) {
      if (!/\{(thread_id|run_id)\}/.test(path)) continue;
      const { status, body } = await send(server, method, fill(path, bad), bodyFor(method));
      expect([method, path, status]).toEqual([method, path, 422]);
      const { detail } = body as { detail: { loc: unknown[]; type: string }[] };
      for (const { loc, type } of detail) expect([loc[0], type]).toEqual(["path", "uuid_parsing"]);
    }
  });

  test.for([
    "../../../etc/passwd",
    "%2e%2e%2f",
    "%00",
    "%ff",
    "%",
    "null",
    "undefined",
    "constructor",
    "__proto__",
    "'; DROP TABLE assistants; --",
    "x".repeat(5000),
  ])("may be any text for an assistant: %s", async (id, { server, expect }) => {
    const { status } = await toAnswer(await server.fetch(`/assistants/${id}`));
    expect([404, 422, 400]).toContain(status);
  });
});

describe("a route that does not exist", () => {
  test.for(["/", "/nope", "/threads/", "/threads//state", "/assistants/a/b/c", "/v2x"])(
    "%s is not found",
    async (path, { server, expect }) => {
      expect(await answerOf(send(server, "GET", path))).toEqual({
        status: 404,
        body: { detail: "Not Found" },
      });
    },
  );

  test.for([
    ["GET", "/runs/stream", "POST"],
    ["PUT", "/threads", "GET, POST"],
    ["DELETE", "/runs/wait", "POST"],
    ["POST", `/threads/${MISSING_ID}`, "GET, PATCH, DELETE"],
    ["DELETE", `/threads/${MISSING_ID}/state`, "GET, POST"],
  ] as const)("lists its methods: %s %s", async ([method, path, allow], { server, expect }) => {
    const body = method === "POST" || method === "PUT" ? {} : undefined;
    const answer = await send(server, method, path, body);
    expect([answer.status, answer.body]).toEqual([405, { detail: "Method Not Allowed" }]);
    expect(answer.headers.get("allow")).toBe(allow);
  });
});

describe("any input", () => {
  const BODIES = [
    "{}",
    "[]",
    "null",
    "{",
    '{"__proto__":null}',
    '{"assistant_id":{"a":1},"values":1e999,"limit":-0}',
    '{"supersteps":[{"updates":[{}]}],"checkpoint":null,"version":1e99}',
    `{"metadata":${JSON.stringify("x".repeat(1000))}}`,
  ];

  test("never causes a server error", async ({ server, expect }) => {
    for (const { method, path } of await agentRoutes(server)) {
      const target = fill(path, IDS);
      if (method === "GET" || target.startsWith("/runs/")) continue;
      for (const body of BODIES) {
        const response = await server.fetch(target, { method, body, headers: JSON_TYPE });
        await response.body?.cancel();
        expect([method, path, body, response.status < 500]).toEqual([method, path, body, true]);
      }
    }
  });
});

/** Returns the routes without those of the tracing API and the control plane, which need a key. */
async function agentRoutes(server: TestServer): Promise<Route[]> {
  const routes = await documentedRoutes(server);
  return routes.filter(({ path }) => !/^\/(?:api|v[12])\//.test(path));
}

function bodyFor(method: string): object | undefined {
  return method === "GET" || method === "DELETE" ? undefined : { assistant_id: "branching" };
}
