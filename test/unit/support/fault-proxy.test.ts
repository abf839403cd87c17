import { createHash } from "node:crypto";
import { AwsClient } from "aws4fetch";
import { describe, onTestFinished, test } from "vitest";
import { type FaultScript, startFaultProxy } from "../../support/fault-proxy.ts";
import { startS3Server } from "../../support/s3-server.ts";

const BODY = "0123456789".repeat(30_000);

/** Starts a server with a proxy in front, and returns requests through the proxy. */
async function through(script?: FaultScript) {
  const server = await startS3Server();
  onTestFinished(() => server.close());
  const { accessKeyId, secretAccessKey, bucket } = server;
  const target = { endpoint: server.url, accessKeyId, secretAccessKey };
  const proxy = await startFaultProxy(target, script);
  onTestFinished(() => proxy.close());
  const client = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", retries: 0 });
  const url = (key: string): string => `${proxy.endpoint}/${bucket}/${key}`;
  return {
    server,
    proxy,
    get: (key: string, init?: RequestInit) => client.fetch(url(key), init),
    put: (key: string) =>
      client.fetch(url(key), {
        method: "PUT",
        body: BODY,
        headers: {
          "x-amz-content-sha256": createHash("sha256").update(BODY).digest("hex"),
          "content-md5": createHash("md5").update(BODY).digest("base64"),
        },
      }),
  };
}

describe("a proxy in front of an S3 server", () => {
  test("forwards requests without a fault", async ({ expect }) => {
    const { server, proxy, get, put } = await through();

    expect((await put("day%3D01/a%20b")).status).toBe(200);
    const response = await get("day%3D01/a%20b");

    expect(await response.text()).toBe(BODY);
    expect(String(await server.read("day=01/a b"))).toBe(BODY);
    expect(proxy.requests).toEqual([
      { method: "PUT", path: "/exports/day%3D01/a%20b", n: 1 },
      { method: "GET", path: "/exports/day%3D01/a%20b", n: 2 },
    ]);
  });

  test("answers with errors in place of the server", async ({ expect }) => {
    const { server, put } = await through(({ n }) =>
      n === 1 ? { kind: "answer", status: 503, code: "SlowDown" } : undefined,
    );

    const refused = await put("slow");

    expect(refused.status).toBe(503);
    expect(await refused.text()).toContain("<Code>SlowDown</Code>");
    expect(await server.list("slow")).toEqual([]);
    expect((await put("slow")).status).toBe(200);
  });

  test("uses another script from then on", async ({ expect }) => {
    const { proxy, put } = await through();
    proxy.follow(({ method }) =>
      method === "PUT" ? { kind: "answer", status: 403, code: "AccessDenied" } : undefined,
    );

    expect((await put("denied")).status).toBe(403);
  });

  test("breaks the connection in a request's body", async ({ expect }) => {
    const { server, put } = await through(() => ({ kind: "reset", during: "request" }));

    await expect(put("broken")).rejects.toThrow("fetch failed");

    expect(await server.list("broken")).toEqual([]);
  });

  test("breaks the connection in an answer's body", async ({ expect }) => {
    const { get, put } = await through(({ method }) =>
      method === "GET" ? { kind: "reset", during: "response" } : undefined,
    );
    await put("half");

    const response = await get("half");

    expect(response.headers.get("content-length")).toBe(String(BODY.length));
    await expect(response.text()).rejects.toThrow("terminated");
  });

  test("breaks the connection after an answer without a body, too", async ({ expect }) => {
    const { server, put } = await through(() => ({ kind: "reset", during: "response" }));

    const response = await put("empty");

    expect([response.status, response.headers.get("etag")]).toEqual([200, expect.any(String)]);
    await expect(response.text()).rejects.toThrow("terminated");
    expect(await server.list("empty")).toEqual(["empty"]);
  });

  test("gives no answer", async ({ expect }) => {
    const { server, get } = await through(() => ({ kind: "hang" }));

    await expect(get("hang", { signal: AbortSignal.timeout(200) })).rejects.toThrow("timeout");

    expect(await server.list("hang")).toEqual([]);
  });

  test("holds a request back", async ({ expect }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { server, proxy, put } = await through(() => ({ kind: "hold", until: promise }));
    const held = put("held");
    await expect.poll(() => proxy.requests.length).toBe(1);
    expect(await server.list("held")).toEqual([]);

    resolve();

    expect((await held).status).toBe(200);
    expect(await server.list("held")).toEqual(["held"]);
  });

  test("makes the server store a part of the body", async ({ expect }) => {
    const { server, put } = await through(() => ({ kind: "truncate", bytes: 1000 }));

    expect((await put("cut%3D1")).status).toBe(200);

    expect(String(await server.read("cut=1"))).toBe(BODY.slice(0, 1000));
  });

  test("withholds the answer from the client", async ({ expect }) => {
    const { server, put } = await through(() => ({ kind: "lose-answer" }));

    await expect(put("lost")).rejects.toThrow("fetch failed");

    expect(String(await server.read("lost"))).toBe(BODY);
  });
});
