import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { describe, vi } from "vitest";
import {
  type CodeTools,
  newDeployment,
  type TestDeployment,
  testWithCode,
} from "../support/code-runs.ts";
import { startUpstream } from "../support/upstream.ts";

const POLL = { timeout: 150_000, interval: 200 };

const test = testWithCode().extend("upstream", async ({ vars }, { onCleanup }) => {
  void vars;
  const upstream = await startUpstream((request, response, body) => {
    const url = new URL(request.url ?? "", "http://upstream");
    const location = url.searchParams.get("to");
    if (location !== null) {
      response.writeHead(307, { location }).end("moved");
    } else if (url.pathname === "/gzip") {
      const packed = gzipSync("hello ".repeat(1000));
      const headers = { "content-encoding": "gzip", "content-length": packed.byteLength };
      response.writeHead(200, headers).end(packed);
    } else if (url.pathname === "/nothing") {
      response.writeHead(204, { "x-empty": "yes" }).end();
    } else if (url.pathname === "/cookies") {
      response.writeHead(201, { "set-cookie": ["a=1", "b=2"], etag: '"x"' }).end("set");
    } else {
      response.end(body);
    }
  });
  onCleanup(() => upstream.close());
  return upstream;
});

const strict = testWithCode({
  OUTBOUND_PRIVATE_ENDPOINTS: "refuse",
  OUTBOUND_HOSTS: "*.allowed.example, 127.0.0.1",
});

type Fetched = { status: number; body: string; url: string; headers: Record<string, string> };

/** Fetches a URL in the deployment's code. */
function get(
  deployment: TestDeployment,
  url: string,
  { hosts = null, ...init }: RequestInit & { hosts?: string[] | null } = {},
): Promise<Fetched | string> {
  return deployment.run(
    async (input: { url: string; init: RequestInit }) => {
      const response = await fetch(input.url, input.init);
      const body = await response.text();
      const headers = Object.fromEntries(response.headers);
      return { status: response.status, body, url: response.url, headers };
    },
    { url, init },
    hosts,
  );
}

async function refusal(answer: Promise<Fetched | string>): Promise<[number, unknown]> {
  const fetched = await answer;
  if (typeof fetched === "string") throw new Error(fetched);
  return [fetched.status, JSON.parse(fetched.body)];
}

const todays = (deployment: TestDeployment) => deployment.usage().then(([day]) => day);

describe("an allowed request", () => {
  test("and its answer are passed on unchanged", async ({ deployment, upstream, expect }) => {
    const answer = await get(deployment, `${upstream.url}/a/b?c=%20d`, {
      method: "PUT",
      headers: { "x-own": "1", authorization: "Bearer t", host: "other.example" },
      body: "the body",
    });
    expect(answer).toMatchObject({
      status: 200,
      body: "the body",
      url: `${upstream.url}/a/b?c=%20d`,
    });
    expect(upstream.seen).toMatchObject([
      {
        method: "PUT",
        url: "/a/b?c=%20d",
        body: "the body",
        headers: {
          "x-own": "1",
          authorization: "Bearer t",
          "content-length": "8",
          host: `127.0.0.1:${upstream.port}`,
        },
      },
    ]);
  });

  test("keeps status, headers and cookies", async ({ deployment, upstream, expect }) => {
    const cookies = await deployment.run(async (url: string) => {
      const response = await fetch(url);
      return [response.status, response.headers.get("etag"), response.headers.getSetCookie()];
    }, `${upstream.url}/cookies`);
    expect(cookies).toEqual([201, '"x"', ["a=1", "b=2"]]);
    const nothing = await get(deployment, `${upstream.url}/nothing`);
    expect(nothing).toMatchObject({ status: 204, body: "", headers: { "x-empty": "yes" } });
    const head = await get(deployment, `${upstream.url}/gzip`, { method: "HEAD" });
    expect(head).toMatchObject({ status: 200, headers: { "content-encoding": "gzip" } });
  });

  test("streams in both directions at once", async ({ deployment, upstream, expect }) => {
    const echoed = await deployment.run(async (url: string) => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      const sent = fetch(url, { method: "POST", body: readable });
      for (const text of ["one ", "two"]) await writer.write(new TextEncoder().encode(text));
      await writer.close();
      return (await sent).text();
    }, upstream.url);
    expect(echoed).toBe("one two");
  });

  test("streams its answer chunk by chunk, while the other side still sends", async ({
    deployment,
    expect,
  }) => {
    const slow = await startUpstream((request, response) => {
      if (request.url === "/release") {
        held?.end("second");
        response.end();
        return;
      }
      held = response;
      response.write("first ");
    });
    let held: { end: (text: string) => void } | undefined;
    try {
      const chunks = await deployment.run(async (url: string) => {
        const texts: string[] = [];
        const decoder = new TextDecoderStream();
        const response = await fetch(`${url}/hold`);
        for await (const text of response.body?.pipeThrough(decoder) ?? []) {
          texts.push(text);
          // Only now does the server send the rest: a buffer in between would wait forever.
          if (texts.length === 1) await (await fetch(`${url}/release`)).text();
        }
        return texts;
      }, slow.url);
      expect(chunks).toEqual(["first ", "second"]);
    } finally {
      await slow.close();
    }
  });

  test("that is aborted is aborted on the other side, too", async ({ deployment, expect }) => {
    const closed: Promise<unknown>[] = [];
    const endless = await startUpstream((_, response) => {
      closed.push(once(response, "close"));
      response.write("first");
    });
    try {
      const given = await deployment.run(async (url: string) => {
        const response = await fetch(url);
        const reader = response.body?.getReader();
        await reader?.read();
        await reader?.cancel();
        return "given up";
      }, endless.url);
      expect(given).toBe("given up");
      await Promise.all(closed);
      expect(closed).toHaveLength(1);
    } finally {
      await endless.close();
    }
  });

  test("fails in the same way as without the proxy for an unreachable server", async ({
    deployment,
    expect,
  }) => {
    const gone = await startUpstream(() => {});
    await gone.close();
    expect(await get(deployment, `${gone.url}/a`)).toBe(
      `Error: Network connection lost: ${gone.url}`,
    );
    expect(await get(deployment, "https://unknown.invalid/a")).toMatch(
      /^Error: fetch failed: no host of this name, .*: https:\/\/unknown\.invalid$/,
    );
  });
});

describe("the outbound policy", () => {
  test("uses the deployment's own list", async ({ deployment, upstream, expect }) => {
    const { url, port } = upstream;
    expect(await get(deployment, url, { hosts: ["127.0.0.1"] })).toMatchObject({ status: 200 });
    const refused = await refusal(get(deployment, `${url}/secret?key=1`, { hosts: ["*.example"] }));
    expect(refused).toEqual([
      403,
      {
        detail:
          `The request GET http://127.0.0.1:${port} is refused: ` +
          "the deployment's THREADWORKS_OUTBOUND_HOSTS does not name its host",
        rule: "deployment_hosts",
        host: `127.0.0.1:${port}`,
      },
    ]);
    expect(upstream.seen).toHaveLength(1);
  });

  test("is checked again for each step of a redirect", async ({ deployment, upstream, expect }) => {
    const elsewhere = `http://localhost:${upstream.port}/there`;
    const url = `${upstream.url}/?to=${encodeURIComponent(elsewhere)}`;
    const followed = await get(deployment, url);
    expect(followed).toMatchObject({ status: 200, url: elsewhere });
    const [status, body] = await refusal(get(deployment, url, { hosts: ["127.0.0.1"] }));
    expect([status, body]).toMatchObject([403, { rule: "deployment_hosts" }]);
    expect(upstream.seen.filter((request) => request.url === "/there")).toHaveLength(1);
    const manual = await get(deployment, url, { redirect: "manual" });
    expect(manual).toMatchObject({ status: 307, headers: { location: elsewhere } });
  });

  test("allows no socket, by any name", async ({ deployment, upstream, expect }) => {
    const host = `127.0.0.1:${upstream.port}`;
    const answers = await deployment.run(async (host: string, { connect }) => {
      const socket = connect(host);
      const writer = socket.writable.getWriter();
      // Either side may notice first that the connection is lost.
      await writer.write(new TextEncoder().encode("GET / HTTP/1.0\r\n\r\n")).catch(() => {});
      const heard = await new Response(socket.readable).text().catch(() => "");
      const upgraded = await fetch(`http://${host}`, { headers: { upgrade: "websocket" } });
      const { rule } = (await upgraded.json()) as { rule: string };
      const webSocket = await new Promise((resolve) => {
        const opening = new WebSocket(`ws://${host}`);
        opening.addEventListener("open", () => resolve("open"));
        opening.addEventListener("error", () => resolve("error"));
      });
      return [heard, upgraded.status, rule, webSocket];
    }, host);
    expect(answers).toEqual(["", 403, "websocket", "error"]);
    expect(upstream.seen).toEqual([]);
    await vi.waitFor(async () => {
      expect((await deployment.logs()).map(({ message }) => message)).toEqual([
        `Outbound connection refused: ${host}: only http and https are allowed`,
        `Outbound request refused: GET http://${host}: it may not be upgraded to another ` +
          "protocol (2 times)",
      ]);
    }, POLL);
    expect(await todays(deployment)).toMatchObject({ requests: 3, refused: 3 });
  });

  test("also applies to node:http", async ({ deployment, upstream, expect }) => {
    const code = (url: string, { http }: CodeTools) =>
      new Promise<number | undefined>((resolve, reject) => {
        http.get(url, (response) => resolve(response.statusCode)).on("error", reject);
      });
    expect(await deployment.run(code, upstream.url)).toBe(200);
    expect(await deployment.run(code, upstream.url, [])).toBe(403);
    expect(upstream.seen).toHaveLength(1);
  });

  strict(
    "refuses private addresses and hosts outside of the installation's list",
    async ({ deployment, expect }) => {
      const asked = await Promise.all(
        [
          "http://127.0.0.1:1/",
          "http://localhost/",
          "http://x.allowed.example.localhost/",
          "https://allowed.example/",
          "https://api.allowed.example.evil.test/",
        ].map((url) => refusal(get(deployment, url))),
      );
      expect(asked.map(([status, body]) => [status, (body as { rule: string }).rule])).toEqual([
        [403, "private_address"],
        [403, "private_address"],
        [403, "private_address"],
        [403, "installation_hosts"],
        [403, "installation_hosts"],
      ]);
    },
  );
});

describe("usage", () => {
  test("counts requests and the bytes of bodies on the wire", async ({
    deployment,
    upstream,
    expect,
  }) => {
    await get(deployment, upstream.url, { method: "POST", body: "x".repeat(1000) });
    await get(deployment, `${upstream.url}/nothing`);
    const packed = await get(deployment, `${upstream.url}/gzip`);
    expect(packed).toMatchObject({ body: "hello ".repeat(1000) });
    await get(deployment, upstream.url, { hosts: [], method: "POST", body: "y" });
    const size = gzipSync("hello ".repeat(1000)).byteLength;
    await vi.waitFor(
      async () =>
        expect(await deployment.usage()).toEqual([
          {
            day: new Date().toISOString().slice(0, 10),
            requests: 4,
            refused: 1,
            bytes_sent: 1000,
            bytes_received: 1000 + size,
            storage_operations: 0,
            storage_rows: 0,
            storage_bytes: 0,
          },
        ]),
      POLL,
    );
  });

  test("counts large bodies to the byte", async ({ deployment, expect }) => {
    const part = randomBytes(1024 * 1024).toString("latin1");
    const large = await startUpstream((_, response, body) => {
      response.end(Buffer.from(body.repeat(20), "latin1"));
    });
    try {
      const received = await deployment.run(
        async ({ url, part }: Record<string, string>) => {
          const bytes = Uint8Array.from(part ?? "", (char) => char.codePointAt(0) ?? 0);
          const response = await fetch(url ?? "", { method: "POST", body: bytes });
          let size = 0;
          for await (const chunk of response.body ?? []) size += chunk.byteLength;
          return size;
        },
        { url: large.url, part },
      );
      expect(received).toBe(20 * 1024 * 1024);
      await vi.waitFor(
        async () =>
          expect(await todays(deployment)).toMatchObject({
            bytes_sent: 1024 * 1024,
            bytes_received: 20 * 1024 * 1024,
          }),
        POLL,
      );
    } finally {
      await large.close();
    }
  });

  test("adds up concurrent calls, for each deployment separately", async ({
    server,
    deployment,
    upstream,
    expect,
  }) => {
    const other = await newDeployment(server);
    await Promise.all(
      Array.from({ length: 20 }, () =>
        deployment.run(async (url: string) => {
          const answers = await Promise.all(
            Array.from({ length: 5 }, () => fetch(url, { method: "POST", body: "12345" })),
          );
          await Promise.all(answers.map((answer) => answer.text()));
        }, upstream.url),
      ),
    );
    await get(other, upstream.url);
    const some = { refused: 0 };
    await vi.waitFor(async () => {
      expect([await todays(deployment), await todays(other)]).toMatchObject([
        { ...some, requests: 100, bytes_sent: 500, bytes_received: 500 },
        { ...some, requests: 1, bytes_sent: 0, bytes_received: 0 },
      ]);
    }, POLL);
  });
});

test("refused requests are in the log, with many similar ones as one line", async ({
  deployment,
  upstream,
  expect,
}) => {
  await deployment.run(
    async (url: string) => {
      for (let times = 0; times < 3; times += 1) await (await fetch(`${url}/?token=x`)).text();
      await (await fetch("https://other.example/", { method: "DELETE" })).text();
    },
    upstream.url,
    [],
  );
  const reason = "the deployment's THREADWORKS_OUTBOUND_HOSTS does not name its host";
  await vi.waitFor(async () => {
    const lines = (await deployment.logs()).map(({ level, kind, revision_id, message }) => [
      level,
      kind,
      revision_id,
      message,
    ]);
    const of = ["WARNING", "server", deployment.ref.revisionId];
    expect(lines).toEqual([
      [...of, `Outbound request refused: GET ${upstream.url}: ${reason} (3 times)`],
      [...of, `Outbound request refused: DELETE https://other.example: ${reason}`],
    ]);
  }, POLL);
});
