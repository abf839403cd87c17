import { createRoute, z } from "@hono/zod-openapi";
import { afterEach, describe, test, vi } from "vitest";
import { ApiError, invalidField } from "../../../../src/http/errors.ts";
import { jsonBody } from "../../../../src/http/json-body.ts";
import { createRouter } from "../../../../src/http/router.ts";
import { renderProblem } from "../../../../src/tracing/v2/problem.ts";

async function answer(error: Error): Promise<{ response: Response; body: unknown }> {
  const app = createRouter();
  app.onError(renderProblem);
  app.use(async (c, next) => {
    c.set("requestId", "request-1");
    await next();
  });
  app.get("/api/v2/thing", (c) => {
    c.header("x-kept", "yes");
    throw error;
  });
  const response = await app.request("/api/v2/thing");
  return { response, body: await response.json() };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("renderProblem", () => {
  test("says what went wrong as problem details", async ({ expect }) => {
    const { response, body } = await answer(new ApiError("not_found", "Run 7 not found"));
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("x-kept")).toBe("yes");
    expect(body).toEqual({
      type: "about:blank",
      title: "Not Found",
      status: 404,
      detail: "Run 7 not found",
      instance: "/api/v2/thing",
    });
  });

  test("names each refused field", async ({ expect }) => {
    const detail = [
      { loc: ["body", "selects", 2], msg: "Input should be 'ID'", type: "enum" },
      { loc: ["body"], msg: "Input should be an object", type: "dict_type" },
    ];
    const { body } = await answer(new ApiError("validation", "Validation failed", { detail }));
    expect(body).toEqual({
      type: "about:blank",
      title: "Unprocessable Content",
      status: 422,
      detail: "selects.2: Input should be 'ID'; body: Input should be an object",
      instance: "/api/v2/thing",
      errors: detail,
    });
  });

  test.for(["json_invalid", "missing", "filter_syntax", "cursor_syntax"])(
    "answers 400 to what cannot be read: %s",
    async (type, { expect }) => {
      const { response, body } = await answer(invalidField(["query", "filter"], "no", type));
      expect(response.status).toBe(400);
      expect(body).toMatchObject({ status: 400, title: "Bad Request", detail: "filter: no" });
    },
  );

  test("shows nothing of what was not foreseen, and logs it", async ({ expect }) => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    for (const name of ["warn", "error"] as const) {
      vi.spyOn(console, name).mockImplementation((line: unknown) => log(line));
    }
    for (const error of [new Error("secret"), new ApiError("internal", "secret")]) {
      const { response, body } = await answer(error);
      expect(response.status).toBe(500);
      expect(body).toEqual({
        type: "about:blank",
        title: "Internal Server Error",
        status: 500,
        detail: "Internal server error",
        instance: "/api/v2/thing",
        request_id: "request-1",
      });
    }
    expect(log.mock.calls.filter(([line]) => String(line).includes("secret"))).toHaveLength(2);
  });

  test("says that an overloaded object may be asked again", async ({ expect }) => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.spyOn(console, "log").mockImplementation(() => undefined);
    const { response, body } = await answer(Object.assign(new Error("x"), { overloaded: true }));
    expect(response.status).toBe(503);
    expect(body).toMatchObject({
      title: "Service Unavailable",
      detail: "Service overloaded, try again",
    });
  });

  test("tells a body that is no JSON from one with an unknown field", async ({ expect }) => {
    const app = createRouter();
    app.onError(renderProblem);
    app.use(async (c, next) => {
      c.set("settings", { maxBodyBytes: 1000 } as never);
      await next();
    });
    app.use(jsonBody);
    const schema = z.strictObject({ a: z.string().optional() });
    app.openapi(
      createRoute({
        method: "post",
        path: "/thing",
        request: { body: { required: true, content: { "application/json": { schema } } } },
        responses: { 200: { description: "" } },
      }),
      (c) => c.body(null, 200),
    );
    const post = (body: string) => app.request("/thing", { method: "POST", body });
    const malformed = await post('{"a": ');
    expect([malformed.status, await malformed.json()]).toEqual([
      400,
      expect.objectContaining({ errors: [expect.objectContaining({ loc: ["body", 6] })] }),
    ]);
    const unknown = await post('{"b": 1}');
    expect([unknown.status, await unknown.json()]).toEqual([
      422,
      expect.objectContaining({ detail: "b: Extra inputs are not permitted" }),
    ]);
  });
});
