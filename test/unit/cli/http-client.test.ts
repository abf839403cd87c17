import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { onTestFinished, test } from "vitest";
import { HttpClient } from "../../../cli/api/http-client.ts";
import {
  startScriptedServer,
  type Reply,
  type SeenRequest,
} from "../../support/scripted-control-plane.ts";

function clientOf(url: string, options: { timeoutMs?: number; retryDelayMs?: number } = {}) {
  return new HttpClient({ url, apiKey: "k", keySource: "LANGSMITH_API_KEY", ...options });
}

async function failureOf(reply: Reply): Promise<string> {
  const { url, close } = await startScriptedServer(() => reply);
  onTestFinished(close);
  try {
    await clientOf(url).request({ method: "PATCH", path: "/v2/deployments/d" });
  } catch (error) {
    return (error as Error).message;
  }
  return "no failure";
}

const ANSWERED = "PATCH /v2/deployments/d was answered";

for (const [name, reply, message] of [
  ["a sentence", { status: 403, json: { detail: "not enabled" } }, "403 Forbidden: not enabled"],
  [
    "problems with their places",
    {
      status: 422,
      json: {
        detail: [
          { loc: ["body", "secrets", 0, "name"], msg: "reserved" },
          { loc: ["body"], msg: "source is missing" },
        ],
      },
    },
    "422 Unprocessable Entity: secrets.0.name: reserved; source is missing",
  ],
  ["an error", { status: 409, json: { error: "taken" } }, "409 Conflict: taken"],
  ["text", { status: 502, text: "<p>Bad</p>\n" }, "502 Bad Gateway: <p>Bad</p>"],
  ["nothing", { status: 500 }, "500 Internal Server Error"],
  [
    "a refusal of the key",
    { status: 401, json: { detail: "unknown key" } },
    "401 Unauthorized: unknown key (the key is that of LANGSMITH_API_KEY)",
  ],
] as const) {
  test(`a failure's message has the text of the body: ${name}`, async ({ expect }) => {
    expect(await failureOf(reply)).toBe(`${ANSWERED} ${message}`);
  });
}

test("an upload is sent without the key, and its address is not shown", async ({ expect }) => {
  const { url, seen, close } = await startScriptedServer(({ path }) =>
    path === "/put/token" ? {} : { status: 403, json: { detail: "expired" } },
  );
  onTestFinished(close);
  const client = clientOf(url);
  const bytes = Uint8Array.from([31, 139, 8]);
  await client.upload(`${url}/put/token`, bytes, 1000);
  expect(seen[0]).toMatchObject({
    method: "PUT",
    headers: { "content-type": "application/gzip", "content-length": "3" },
  });
  expect(seen[0]?.headers["x-api-key"]).toBeUndefined();
  expect(seen[0]?.bytes).toEqual(Buffer.from(bytes));
  await expect(client.upload(`${url}/put/old-token`, bytes, 1000)).rejects.toThrow(
    `PUT ${url}/... was answered 403 Forbidden: expired`,
  );
  close();
  await expect(
    clientOf(url, { retryDelayMs: 1 }).upload(`${url}/put/token`, bytes, 1000),
  ).rejects.toThrow(`PUT ${url}/... failed: `);
});

test("a redirect is not followed with the key", async ({ expect }) => {
  const seen: SeenRequest[] = [];
  const { url, close } = await startScriptedServer((request) => {
    seen.push(request);
    return { status: 200, json: {} };
  });
  onTestFinished(close);
  const redirecting = createServer((socket) => {
    socket.once("data", () =>
      socket.end(
        `HTTP/1.1 307 Temporary Redirect\r\nlocation: ${url}/\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
      ),
    );
  });
  redirecting.listen(0, "127.0.0.1");
  await once(redirecting, "listening");
  onTestFinished(() => void redirecting.close());
  const { port } = redirecting.address() as AddressInfo;
  const client = clientOf(`http://127.0.0.1:${port}`, { retryDelayMs: 1 });
  await expect(client.request({ method: "GET", path: "/" })).rejects.toThrow(/ failed: .*redirect/);
  expect(seen).toEqual([]);
});

test("a failed connection is retried three times", async ({ expect }) => {
  const listener = createServer();
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, "close");

  const url = `http://127.0.0.1:${port}`;
  const client = clientOf(url, { retryDelayMs: 1 });
  await expect(client.request({ method: "POST", path: "/x", json: {} })).rejects.toThrow(
    `POST ${url}/x failed: connect ECONNREFUSED 127.0.0.1:${port}`,
  );

  const patient = clientOf(url, { retryDelayMs: 400 }).request({ method: "GET", path: "/x" });
  const late = createServer((socket) => {
    socket.once("data", () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n""'));
  });
  // The first attempt has failed by then. If it has not, this attempt shows nothing.
  setTimeout(() => late.listen(port, "127.0.0.1"), 100);
  onTestFinished(() => void late.close());
  expect(await patient).toBe("");
});

test("a request that was sent is not repeated, unless it only reads", async ({ expect }) => {
  let connections = 0;
  const hangUp = createServer((socket) => {
    connections += 1;
    socket.once("data", () => socket.destroy());
  });
  hangUp.listen(0, "127.0.0.1");
  await once(hangUp, "listening");
  onTestFinished(() => void hangUp.close());
  const { port } = hangUp.address() as AddressInfo;
  const client = clientOf(`http://127.0.0.1:${port}`, { retryDelayMs: 1 });
  await expect(client.request({ method: "POST", path: "/x", json: {} })).rejects.toThrow(
    /^POST http:\S+\/x failed: /,
  );
  expect(connections).toBe(1);
  await expect(client.request({ method: "GET", path: "/x" })).rejects.toThrow(/\/x failed: /);
  expect(connections).toBe(5);
  const logs = client.request({ method: "POST", path: "/logs", json: {}, onlyReads: true });
  await expect(logs).rejects.toThrow(/\/logs failed: /);
  expect(connections).toBe(9);
});

test("a rate-limited request is repeated at most three times", async ({ expect }) => {
  let refusals = 2;
  const { url, seen, close } = await startScriptedServer(() => {
    refusals -= 1;
    return refusals < 0
      ? { json: { ok: true } }
      : { status: 429, json: { detail: "too many" }, headers: { "retry-after": "0" } };
  });
  onTestFinished(close);
  const client = clientOf(url);
  const request = { method: "POST", path: "/x", json: { name: "a" } } as const;
  expect(await client.request(request)).toEqual({ ok: true });
  expect(seen.map(({ json }) => json)).toEqual([{ name: "a" }, { name: "a" }, { name: "a" }]);

  refusals = 100;
  await expect(client.request(request)).rejects.toThrow(
    "POST /x was answered 429 Too Many Requests: too many",
  );
  expect(seen).toHaveLength(7);
});

test("a request to a server that does not answer times out", async ({ expect }) => {
  const { url, close } = await startScriptedServer(() => new Promise(() => {}));
  onTestFinished(close);
  const client = clientOf(url, { timeoutMs: 50 });
  await expect(client.request({ method: "GET", path: "/slow" })).rejects.toThrow(
    `GET ${url}/slow failed: no answer within 0.05 seconds`,
  );
});
