import { createRoute, z } from "@hono/zod-openapi";
import { describe, test, vi } from "vitest";
import { parseSettings } from "../../src/env.ts";
import { noteIgnored, sayIgnoredFields } from "../../src/http/ignored-fields.ts";
import { createRouter } from "../../src/http/router.ts";

const debug = vi.spyOn(console, "debug").mockReturnValue();

const app = createRouter();
app.onError((error, c) => c.json({ message: error.message }, 422));
app.use(sayIgnoredFields, async (c, next) => {
  c.set("requestId", "request-1");
  c.set("settings", { ...parseSettings({}), logLevel: "debug" });
  await next();
});
const body = z.strictObject({
  name: z.string(),
  nested: z.strictObject({ a: z.number().optional() }).optional(),
  items: z.array(z.strictObject({ id: z.number().optional() })).optional(),
});
app.openapi(
  createRoute({
    method: "post",
    path: "/things",
    request: {
      query: z.strictObject({ limit: z.string().optional() }),
      body: { required: true, content: { "application/json": { schema: body } } },
    },
    responses: { 200: { description: "What was understood" } },
  }),
  (c) => c.json([c.req.valid("query"), c.req.valid("json")]),
);
app.openapi(
  createRoute({ method: "get", path: "/plain", responses: { 200: { description: "Nothing" } } }),
  (c) => {
    noteIgnored(c, [{ path: ["post", 3], keys: ["noted"] }]);
    return new Response("streamed");
  },
);

async function post(query: string, json: unknown) {
  const response = await app.request(`/things${query}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(json),
  });
  const header = response.headers.get("x-ignored-fields");
  return { status: response.status, understood: await response.json(), header };
}

describe("an ignored part of a request", () => {
  test("is named in the answer, from the query and the body", async ({ expect }) => {
    const given = { name: "n", colour: 1, nested: { a: 1, b: 2 }, items: [{ x: 1 }, { x: 2 }] };
    expect(await post("?limit=1&page=2&page=3", given)).toEqual({
      status: 200,
      understood: [{ limit: "1" }, { name: "n", nested: { a: 1 }, items: [{}, {}] }],
      header: "page, nested.b, items[].x, colour",
    });
  });

  test("is also named in a refusal", async ({ expect }) => {
    const { status, header } = await post("", { name: 7, colour: 1 });
    expect([status, header]).toEqual([422, "colour"]);
  });

  test("is not reported if everything is known", async ({ expect }) => {
    expect((await post("?limit=1", { name: "n" })).header).toBeNull();
  });

  test("is named if no parameter is known, and if a handler noted it", async ({ expect }) => {
    const response = await app.request("/plain?checkpoint_id=x");
    expect(response.headers.get("x-ignored-fields")).toBe("checkpoint_id, post[].noted");
    expect(await response.text()).toBe("streamed");
  });

  test.for([
    ["a, b", "a%2C%20b"],
    ["a\r\nset-cookie: b", "a%0D%0Aset-cookie%3A%20b"],
    ["größe", "gr%C3%B6%C3%9Fe"],
    ["\uD800", "%EF%BF%BD"],
    ["", ""],
    ["a.b", "a.b"],
    ["k".repeat(1000), "k".repeat(64)],
  ] as const)(
    "is named in characters that a header can have: %j",
    async ([key, name], { expect }) => {
      const { status, header } = await post("", { name: "n", [key]: 1 });
      expect([status, header]).toEqual([200, name]);
    },
  );

  test("is named as long as there is room, with a note that there are more", async ({ expect }) => {
    const keys = Array.from({ length: 30 }, (_, index) => `k${index}`);
    const many = await post("", { name: "n", ...Object.fromEntries(keys.map((key) => [key, 1])) });
    expect(many.header).toBe(`${keys.slice(0, 20).join(", ")}, ...`);
    const long = keys.map((key) => [`${key}${"€".repeat(60)}`, 1]);
    const { header } = await post("", { name: "n", ...Object.fromEntries(long) });
    expect(header).toMatch(/^(k\d(%E2%82%AC){60}, ){3}\.\.\.$/);
  });

  test("is logged", async ({ expect }) => {
    debug.mockClear();
    await post("?page=2", { name: "n" });
    expect(debug.mock.calls.map(([line]) => JSON.parse(String(line)))).toEqual([
      { level: "debug", event: "ignored_fields", request_id: "request-1", fields: "page" },
    ]);
  });
});
