import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";
import { afterEach, describe, test, vi } from "vitest";
import { ProjectAuth } from "../../../src/graph-runtime/project-auth.ts";

afterEach(() => vi.restoreAllMocks());

const request = {
  method: "POST",
  url: "https://agents.example/threads?x=1",
  headers: [
    { name: "authorization", value: "Bearer a" },
    { name: "x-a", value: "1" },
  ],
};

function projectAuth(auth: unknown): ProjectAuth {
  return new ProjectAuth(auth, { studio: true, cache: null });
}

function returning(user: unknown): ProjectAuth {
  return projectAuth(new Auth().authenticate(() => user as string));
}

const anybody = { identity: "a", display_name: "a", is_authenticated: true, permissions: [] };

describe("the export that auth.path names", () => {
  test.for([undefined, null, {}, "auth", () => new Auth()])(
    "cannot be %s",
    (handlers, { expect }) => {
      expect(() => projectAuth(handlers)).toThrow('"auth.path" must name an Auth object');
    },
  );

  test("must have an authenticate handler", ({ expect }) => {
    expect(() => projectAuth(new Auth())).toThrow("has no authenticate handler");
  });

  test("lists the events for which it has handlers", ({ expect }) => {
    const auth = new Auth()
      .authenticate(() => "a")
      .on("threads:read", () => true)
      .on(["assistants", "*:create"], () => true);
    expect(projectAuth(auth).info).toEqual({
      events: ["threads:read", "assistants", "*:create"],
      studio: true,
      cache: null,
    });
  });
});

describe("authenticate", () => {
  test.for([
    ["a", anybody],
    [{ identity: "a" }, anybody],
    [
      {
        identity: "a",
        display_name: "Ann",
        permissions: ["x"],
        org: { id: 1 },
        skipped: undefined,
      },
      { ...anybody, display_name: "Ann", permissions: ["x"], org: { id: 1 } },
    ],
    [
      { identity: "a", since: new Date(0) },
      { ...anybody, since: "1970-01-01T00:00:00.000Z" },
    ],
  ] as const)("makes a user from %j", async ([returned, user], { expect }) => {
    expect(await returning(returned).authenticate(request)).toEqual({
      ok: true,
      principal: { user, permissions: user.permissions },
    });
  });

  test("gets the request without its body", async ({ expect }) => {
    const auth = projectAuth(
      new Auth().authenticate(async ({ method, url, headers, body }) => {
        return JSON.stringify([
          method,
          url,
          headers.get("x-a"),
          headers.get("authorization"),
          body,
        ]);
      }),
    );
    const result = await auth.authenticate(request);
    expect(result).toMatchObject({
      principal: {
        user: { identity: JSON.stringify(["POST", request.url, "1", "Bearer a", null]) },
      },
    });
  });

  test("refuses as an HTTPException specifies, from any copy of the SDK", async ({ expect }) => {
    class OtherCopy extends Error {
      readonly status = 402;
      readonly headers = { "x-b": "2" };
    }
    Object.defineProperty(OtherCopy, "name", { value: "HTTPException" });
    for (const [error, refusal] of [
      [new HTTPException(401), { status: 401, detail: "Unauthorized", headers: [] }],
      [
        new OtherCopy("Pay first"),
        { status: 402, detail: "Pay first", headers: [{ name: "x-b", value: "2" }] },
      ],
    ] as const) {
      const auth = projectAuth(
        new Auth().authenticate(() => {
          throw error;
        }),
      );
      expect(await auth.authenticate(request)).toEqual({ ok: false, ...refusal });
    }
  });

  test("logs any other error, and hides its details", async ({ expect }) => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const withStatus = Object.assign(new Error("token a1b2 is wrong"), {
      status: 401,
      headers: {},
    });
    for (const error of [withStatus, "a text", null]) {
      const auth = projectAuth(
        new Auth().authenticate(async () => {
          throw error;
        }),
      );
      expect(await auth.authenticate(request)).toEqual({
        ok: false,
        status: 500,
        detail: "Internal server error",
        headers: [],
      });
    }
    expect(logged.mock.calls.map(([line]: unknown[]) => line)).toMatchObject([
      { event: "auth_handler_failed", handler: "authenticate", error: withStatus.stack },
      { event: "auth_handler_failed", handler: "authenticate", error: "string" },
      { event: "auth_handler_failed", handler: "authenticate", error: "object" },
    ]);
  });
});

describe("authorize", () => {
  const asking = {
    resource: "threads",
    action: "create",
    value: { thread_id: "t", metadata: { note: 1 } },
    user: { ...anybody },
    permissions: ["x"],
  };

  test("gives the handler the requested values, and applies its changes of metadata", async ({
    expect,
  }) => {
    const seen: unknown[] = [];
    const auth = projectAuth(
      new Auth()
        .authenticate(() => "a")
        .on("threads:create", (context) => {
          seen.push(structuredClone(context));
          const { value } = context;
          value.metadata = { ...value.metadata, owner: context.user.identity };
          return { owner: context.user.identity };
        }),
    );
    expect(await auth.authorize(structuredClone(asking))).toEqual({
      ok: true,
      filter: { owner: "a" },
      metadata: { note: 1, owner: "a" },
    });
    expect(seen).toEqual([{ ...asking, event: "threads:create" }]);
  });

  test.for([
    { [Symbol("or")]: [{ owner: "a" }] },
    { $and: [{ [Symbol("owner")]: "a" }] },
    { owner: { [Symbol("eq")]: "a" } },
  ])("fails if JSON would change the filter: %o", async (filter, { expect }) => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const handler = () => filter as unknown as boolean;
    const auth = projectAuth(new Auth().authenticate(() => "a").on("threads", handler));
    expect(await auth.authorize(asking)).toMatchObject({ ok: false, status: 500 });
  });

  test("allows events without a registered handler", async ({ expect }) => {
    const auth = projectAuth(new Auth().authenticate(() => "a").on("assistants", () => false));
    expect(await auth.authorize(asking)).toEqual({
      ok: true,
      filter: null,
      metadata: { note: 1 },
    });
  });
});
