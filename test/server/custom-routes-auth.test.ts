import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearer } from "../support/bearer.ts";
import { answerOf, send } from "../support/http.ts";
import { PLACES, type Served, serveProject } from "../support/routes-projects.ts";

describe.each(PLACES)("a project with users of its own, %s", (place) => {
  let served: Served;

  beforeAll(async () => {
    served = await serveProject(place, "guarded-routes");
  });
  afterAll(() => served?.close());

  const get = (path: string, headers: Record<string, string>) =>
    send(served, "GET", path, undefined, headers);

  test("lets only its users reach its app, which sees the caller", async () => {
    const { status, body } = await get("/told/Bern", bearer("ada"));
    expect(status).toBe(200);
    expect(body).toMatchObject({ user: "ada", headers: bearer("ada") });
    expect((await get("/told/Bern", {})).status).toBe(401);
    expect((await get("/told/Bern", { "x-api-key": served.apiKey })).status).toBe(401);
  });

  test("calls its handlers for requests of its app's own client", async () => {
    const { authorization = "" } = bearer("ada");
    const inside = `/inside?as=${encodeURIComponent(authorization)}`;
    expect((await get(inside, bearer("ada"))).status).toBe(200);
    const { authorization: denied = "" } = bearer({ identity: "eve", rules: "deny" });
    const refused = await get(`/inside?as=${encodeURIComponent(denied)}`, bearer("ada"));
    // The app's client is refused, so the app throws.
    expect(refused.status).toBe(500);
    const threads = await send(served, "POST", "/threads/search", {}, bearer("ada"));
    expect(threads.body).toMatchObject([{ metadata: { owner: "ada" } }]);
    expect(threads.body).toHaveLength(1);
    const others = await send(served, "POST", "/threads/search", {}, bearer("eve"));
    expect(others.body).toEqual([]);
  });

  test("serves its components' files to anyone, and their elements to its users", async () => {
    const asked = { name: "weather" };
    expect((await send(served, "POST", "/ui/weather", asked)).status).toBe(401);
    expect((await send(served, "POST", "/ui/weather", asked, bearer("ada"))).status).toBe(200);
    expect((await get("/ui/weather/entrypoint.js", {})).status).toBe(200);
  });
});

describe.each(PLACES)("a project whose app is public, %s", (place) => {
  let served: Served;

  beforeAll(async () => {
    served = await serveProject(place, "open-routes");
  });
  afterAll(() => served?.close());

  test("answers without a caller, and gives the app the headers that are meant for it", async () => {
    const headers = { "x-api-key": served.apiKey, ...bearer("mine") };
    const { status, body } = await send(served, "POST", "/hook", { event: 1 }, headers);
    expect([status, body]).toEqual([
      200,
      { got: '{"event":1}', key: null, authorization: "Bearer mine" },
    ]);
    expect((await send(served, "GET", "/hook")).status).toBe(200);
  });

  test("keeps the built-in routes for its users", async () => {
    const search = (headers: Record<string, string>) =>
      answerOf(send(served, "POST", "/threads/search", { limit: 1 }, headers));
    expect((await search({})).status).toBe(401);
    expect(await search(bearer("ada"))).toEqual({ status: 200, body: [] });
  });

  test("lets the app answer where neither it nor the agent server has a route", async () => {
    const { status, body } = await send(served, "GET", "/nowhere");
    expect([status, body]).toEqual([404, "The app knows no such path"]);
  });

  test("hides the details of a failure", async () => {
    const { status, body } = await send(served, "GET", "/nonsense");
    expect([status, body]).toEqual([500, { detail: "Internal server error" }]);
  });

  test("allows origins that match the whole of the project's pattern", async () => {
    const allowed = async (origin: string, method: string) => {
      const { headers } = await send(served, method, "/hook", undefined, { origin });
      return headers.get("access-control-allow-origin");
    };
    for (const method of ["OPTIONS", "GET"]) {
      expect(await allowed("https://app.example.com", method)).toBe("https://app.example.com");
      expect(await allowed("https://app.example.com.evil.com", method)).toBe(null);
      expect(await allowed("http://app.example.com", method)).toBe(null);
    }
  });

  test("does not serve what the project disables, except for health checks", async () => {
    for (const path of ["/info", "/docs", "/openapi.json"]) {
      expect([path, (await send(served, "GET", path)).status]).toEqual([path, 404]);
    }
    expect((await send(served, "GET", "/ok")).status).toBe(200);
    const { status } = await send(served, "POST", "/ui/weather", { name: "x" }, bearer("ada"));
    expect(status).toBe(404);
    const file = await send(served, "GET", "/ui/weather/entrypoint.js");
    expect(file.status).toBe(401);
  });
});
