import { Hono } from "hono";
import { afterEach, describe, test, vi } from "vitest";
import {
  appLoader,
  answerFromApp,
  type HttpApp,
  toHttpApp,
} from "../../../src/graph-runtime/http-app.ts";
import { NO_ROUTE_HEADER } from "../../../src/graph-runtime/http-info.ts";

const CONTEXT = { env: { A: "b" }, waitUntil: () => {} };

const PRINCIPAL = {
  user: { identity: "ada", display_name: "ada", is_authenticated: true, permissions: ["read"] },
  permissions: ["read"],
};

afterEach(() => {
  vi.restoreAllMocks();
});

function ask(app: HttpApp, path: string): Promise<Response> {
  return app(new Request(`http://project${path}`), PRINCIPAL, CONTEXT);
}

describe("an app of Hono", () => {
  test("gives handlers and middleware the caller and its variables", async ({ expect }) => {
    const app = new Hono<{
      Bindings: { A: string };
      Variables: { auth: unknown; seen: unknown };
    }>();
    app.use(async (c, next) => {
      c.set("seen", c.get("auth"));
      await next();
    });
    app.get("/a", (c) => c.json({ auth: c.get("auth"), seen: c.get("seen"), env: c.env }));
    const auth = { user: PRINCIPAL.user, scopes: ["read"] };
    const answer = await ask(toHttpApp(app), "/a");
    expect(await answer.json()).toEqual({ auth, seen: auth, env: CONTEXT.env });
  });

  test("marks missing routes by a header, whatever its own answer is", async ({ expect }) => {
    const app = new Hono().get("/a", (c) => c.notFound()).notFound((c) => c.text("mine", 404));
    const { status, headers } = await ask(toHttpApp(app), "/b");
    expect([status, headers.has(NO_ROUTE_HEADER)]).toEqual([404, true]);
  });

  test("keeps its base path and its handling of errors", async ({ expect }) => {
    const app = new Hono().basePath("/api");
    app.onError((error, c) => c.text(`mended: ${error.message}`, 503));
    app.get("/a", () => {
      throw new Error("broken");
    });
    const answer = await ask(toHttpApp(app), "/api/a");
    expect([answer.status, await answer.text()]).toEqual([503, "mended: broken"]);
  });
});

describe("an invalid app", () => {
  test.for([undefined, null, 7, {}, () => {}, { fetch: true }])("is %j", (value, { expect }) => {
    expect(() => toHttpApp(value)).toThrow('"http.app" must name a Hono app, or an object');
  });
});

describe("answerFromApp", () => {
  test("hides the details when an app or its module throws", async ({ expect }) => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const failing = toHttpApp({
      fetch: () => {
        throw new Error("hunter2");
      },
    });
    const asked = { principal: null, ...CONTEXT };
    for (const load of [async () => failing, () => Promise.reject(new Error("hunter2"))]) {
      const answer = await answerFromApp(load, new Request("http://project/"), asked);
      expect([answer.status, await answer.json()]).toEqual([
        500,
        { detail: "Internal server error" },
      ]);
    }
    expect(logged).toHaveBeenCalledTimes(2);
    expect(String(logged.mock.calls[0]?.[0].error)).toContain("hunter2");
  });
});

describe("appLoader", () => {
  test("evaluates the module on the app's first request, and again after a failure", async ({
    expect,
  }) => {
    let loads = 0;
    const load = async () => {
      loads += 1;
      return loads === 1 ? {} : { app: { fetch: () => new Response() } };
    };
    const loadApp = appLoader({ load, exportName: "app" }, () => {});
    expect(loads).toBe(0);
    await expect(loadApp()).rejects.toThrow('"http.app" must name');
    const app = await loadApp();
    expect(await loadApp()).toBe(app);
    expect(loads).toBe(2);
  });
});
