import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "@langchain/langgraph-sdk";
import { answerOf, send } from "../support/http.ts";
import { PLACES, type Served, serveProject } from "../support/routes-projects.ts";

describe.each(PLACES)("the UI components of a project, %s", (place) => {
  let served: Served;
  let key: Record<string, string>;

  beforeAll(async () => {
    served = await serveProject(place, "routes");
    key = { "x-api-key": served.apiKey };
  });
  afterAll(() => served?.close());

  const elements = (ui: string, body: unknown, headers: Record<string, string> = key) =>
    send(served, "POST", `/ui/${ui}`, body, headers);

  test("are loaded by elements that reference the files of their bundle", async () => {
    const { status, body, headers } = await elements("weather", { name: "weather" });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^text\/html/);
    const at = `${served.url.replace("https:", "")}/ui/weather`;
    expect(body).toBe(
      [
        `<link rel="stylesheet" href="${at}/entrypoint.css" />`,
        `<script src="${at}/entrypoint.js" onload='__LGUI_weather.render("weather", "{{shadowRootId}}")'></script>`,
      ].join("\n"),
    );
  });

  test("are requested by the SDK's own client", async () => {
    const client = new Client({ apiUrl: served.url, apiKey: served.apiKey });
    const html = await client["~ui"].getComponent("weather", "it's <b>");
    expect(html).toContain(`render("it&#39;s &lt;b&gt;", "{{shadowRootId}}")'`);
  });

  test("have files that need no key", async () => {
    const script = await send(served, "GET", "/ui/weather/entrypoint.js");
    expect(script.status).toBe(200);
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(script.body).toContain(`globalThis[Symbol.for("LGUI_REQUIRE")]`);
    expect(script.body).toContain("__LGUI_weather");
    const style = await send(served, "GET", "/ui/weather/entrypoint.css");
    expect(style.headers.get("content-type")).toBe("text/css; charset=utf-8");
    expect(style.body).toContain(".weather");
  });

  test("do not exist if the project has none", async () => {
    expect(await elements("agent", { name: "weather" })).toMatchObject({
      status: 404,
      body: { detail: 'UI not found for agent "agent"' },
    });
    for (const path of [
      "/ui/weather/other.js",
      "/ui/agent/entrypoint.js",
      "/ui/constructor/name",
    ]) {
      const answer = (headers: Record<string, string>) =>
        answerOf(send(served, "GET", path, undefined, headers));
      expect([path, await answer(key)]).toEqual([
        path,
        { status: 404, body: { detail: "Not Found" } },
      ]);
      // Other callers do not learn which components exist.
      expect([path, (await answer({})).status]).toEqual([path, 401]);
    }
    expect((await elements("constructor", { name: "x" })).status).toBe(404);
  });

  test("need a key of the workspace, and a name", async () => {
    expect((await elements("weather", { name: "weather" }, {})).status).toBe(401);
    expect(await elements("weather", {})).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "name"] }] },
    });
  });
});
