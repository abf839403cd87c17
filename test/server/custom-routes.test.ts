import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerOf, send } from "../support/http.ts";
import { PLACES, type Served, serveProject } from "../support/routes-projects.ts";

const LIMIT_SECONDS = 3;

describe.each(PLACES)("a project's own routes, %s", (place) => {
  let served: Served;
  let key: Record<string, string>;

  beforeAll(async () => {
    served = await serveProject(place, "routes", { DEPLOYED_CALL_SECONDS: String(LIMIT_SECONDS) });
    key = { "x-api-key": served.apiKey };
  });
  afterAll(() => served?.close());

  const get = (path: string, headers: Record<string, string> = key) =>
    send(served, "GET", path, undefined, headers);

  test("are answered by the project's app, which sees no key of the platform", async () => {
    const headers = {
      ...key,
      "x-own": "yes",
      authorization: `Bearer ${served.apiKey}`,
      cookie: `mine=1; theirs=${served.apiKey}`,
    };
    const { status, body } = await get(`/told/Bern?a=1&key=${served.apiKey}`, headers);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: "Bern",
      user: null,
      headers: { "x-own": "yes", cookie: "mine=1" },
      context: ["passThroughOnException", "props", "waitUntil"],
    });
    expect(JSON.stringify(body)).not.toContain(served.apiKey);
    const { url, env } = body as { url: string; env: string[] };
    expect(new URL(url).pathname + new URL(url).search).toBe("/told/Bern?a=1");
    const own = env.filter((name) => !name.startsWith("LANGSMITH_HOST_"));
    expect(own).toEqual(
      place === "deployed" ? [] : ["FIXTURE_VALUE", "LANGCHAIN_CALLBACKS_BACKGROUND"],
    );
  });

  test("need a key of the workspace", async () => {
    expect((await get("/told/Bern", {})).status).toBe(401);
    const { status } = await get("/told/Bern", { "x-api-key": served.otherKey });
    // A key of another workspace reaches that workspace's built-in project, which has its own threads.
    expect(status).toBe(place === "deployed" ? 404 : 200);
  });

  test("stream bodies in both directions", async () => {
    // The `fetch` of Node resolves only after it has sent the whole body.
    const asked = request(new URL(`${served.url}/echo`), { method: "POST", headers: key });
    asked.write("first ");
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    expect(answer.headers["x-own"]).toBe("yes");
    const [first] = (await once(answer, "data")) as [Buffer];
    // The rest is sent only after the first part has come back.
    expect(first.toString()).toBe("first ");
    asked.end("second");
    const [second] = (await once(answer, "data")) as [Buffer];
    expect(second.toString()).toBe("second");
  });

  test("fall through to the built-in routes where the app has none", async () => {
    const created = await send(served, "POST", "/threads", { metadata: { a: 1 } }, key);
    expect(created).toMatchObject({ status: 200, body: { metadata: { a: 1 } } });
    expect(await answerOf(get("/nowhere"))).toEqual({ status: 404, body: { detail: "Not Found" } });
    const { status, headers } = await send(served, "PUT", "/threads", { a: 1 }, key);
    expect([status, headers.get("allow")]).toEqual([405, "GET, POST"]);
  });

  test("come before built-in routes, and their middleware before all routes", async () => {
    const counted = await send(served, "POST", "/threads/count", { metadata: {} }, key);
    expect(counted.body).toEqual({ counted: { metadata: {} } });
    const blocked = await send(served, "POST", "/threads/search?blocked=1", {}, key);
    expect(blocked).toMatchObject({ status: 403, body: { blocked: "/threads/search" } });
    const passed = await send(served, "POST", "/threads/search", { limit: 1 }, key);
    expect(passed).toMatchObject({ status: 200, body: expect.any(Array) });
    const headers = ["x-passed-by", "content-type", "access-control-allow-origin"];
    expect(headers.map((name) => passed.headers.get(name))).toEqual([
      "the app",
      "application/json",
      null,
    ]);
  });

  test("can call their own agent server with a client without an address", async () => {
    const { status, body } = await get("/inside");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      messages: [{ content: "It is sunny in Bern" }],
      ui: [{ type: "ui", name: "weather", props: { city: "Bern" } }],
    });
  });

  test("hide the details of a failure, and pass on a refusal as it is", async () => {
    const { status, body } = await get("/throws");
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain("hunter2");
    expect(await answerOf(get("/teapot"))).toEqual({ status: 418, body: "Short and stout" });
  });

  test("harm no other request when they hang or never end", async () => {
    const hanging = get("/hangs");
    const endless = await served.fetch("/endless", { headers: key });
    const reader = endless.body?.getReader();
    await reader?.read();
    expect((await send(served, "POST", "/threads", {}, key)).status).toBe(200);
    await reader?.cancel();
    expect(await answerOf(hanging)).toEqual({
      status: 504,
      body: {
        detail: `The project's code did not answer the request within ${LIMIT_SECONDS} seconds`,
      },
    });
  });

  test("may set browser state for an origin only if it is the project's own", async () => {
    const { status, body, headers } = await get("/page");
    expect([status, body, headers.get("x-own")]).toEqual([200, "<p>Hello</p>", "yes"]);
    const isShared = place === "deployed";
    expect(headers.get("set-cookie")).toBe(isShared ? null : "session=1");
    expect(headers.has("clear-site-data")).toBe(!isShared);
    expect(headers.get("content-security-policy")?.startsWith("sandbox") ?? false).toBe(isShared);
    expect(headers.get("access-control-allow-origin")).toBe(null);
  });

  test("accept WebSockets", async () => {
    const socket = new WebSocket(`${served.url}/socket`.replace("http", "ws"), {
      headers: key,
    } as unknown as string[]);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    socket.addEventListener("open", () => socket.send("hello"));
    socket.addEventListener("message", ({ data }) => resolve(data));
    socket.addEventListener("error", () => reject(new Error("The socket failed")));
    try {
      expect(await promise).toBe("heard hello");
    } finally {
      socket.close();
    }
  });

  test("are served below the project's prefix, like all other routes", async () => {
    const told = await get("/base/told/Bern");
    expect([told.status, new URL((told.body as { url: string }).url).pathname]).toEqual([
      200,
      "/told/Bern",
    ]);
    expect((await send(served, "POST", "/base/threads", {}, key)).status).toBe(200);
    expect((await get("/base/base/told/Bern")).status).toBe(404);
    expect((await get("/base/told/Bern", {})).status).toBe(401);
  });

  test("do not include what the project disables", async () => {
    const { status, body } = await send(served, "POST", "/store/items/search", {}, key);
    expect([status, body]).toEqual([404, { detail: "Not Found" }]);
  });

  test("are open to the project's origins in browsers, also in a preflight without a key", async () => {
    const preflight = await served.fetch("/told/Bern", {
      method: "OPTIONS",
      headers: { origin: "https://app.example.com", "access-control-request-method": "GET" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    expect(preflight.headers.get("access-control-allow-credentials")).toBe("true");
    expect(preflight.headers.get("access-control-max-age")).toBe("60");
    const own = await get("/told/Bern", { ...key, origin: "https://app.example.com" });
    expect(own.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    expect(own.headers.get("access-control-expose-headers")?.split(",")).toEqual(
      expect.arrayContaining(["x-own", "content-location", "x-pagination-total"]),
    );
    const foreign = await get("/told/Bern", { ...key, origin: "https://evil.example.com" });
    expect(foreign.headers.get("access-control-allow-origin")).toBe(null);
  });

  test("give runs the headers that the project selects", async () => {
    const client = served.client({
      apiKey: served.apiKey,
      headers: {
        "X-Tenant-Name": "first",
        "x-tenant-secret": "hidden",
        "x-other": "no",
        "x-plan": "plus",
      },
    });
    const { seen } = (await client.runs.wait(null, "configurable", {
      input: {},
      config: { configurable: { "x-plan": "forged", mine: 1 } },
    })) as { seen: { configurable: Record<string, unknown> } };
    const { "x-tenant-name": name, "x-plan": plan, mine } = seen.configurable;
    expect({ name, plan, mine }).toEqual({ name: "first", plan: "plus", mine: 1 });
    expect(
      Object.keys(seen.configurable).filter((key) => /secret|other|api-key/.test(key)),
    ).toEqual([]);
  });
});
