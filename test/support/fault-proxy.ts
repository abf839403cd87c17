import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request as requestOf,
  type ServerResponse,
} from "node:http";
import { buffer } from "node:stream/consumers";
import { AwsV4Signer } from "aws4fetch";

/** A request for an object or a bucket. */
export type ProxiedRequest = {
  method: string;
  /** The path, percent-encoded as sent, with the query. */
  path: string;
  /** The number of the request, from 1. */
  n: number;
};

/**
 * A fault of one request:
 * - `answer`: an error that does not come from the server, which never sees the request
 * - `reset`: the connection breaks in the middle of the request's or the answer's body
 * - `hang`: there is no answer
 * - `hold`: the request is forwarded when the promise resolves
 * - `truncate`: the server stores only the first bytes of the body, and reports success
 * - `lose-answer`: the server handles the request, but its answer is lost
 */
export type Fault =
  | { kind: "answer"; status: number; code: string; headers?: Record<string, string> }
  | { kind: "reset"; during: "request" | "response" }
  | { kind: "hang" }
  | { kind: "hold"; until: Promise<unknown> }
  | { kind: "truncate"; bytes: number }
  | { kind: "lose-answer" };

/** Returns the fault for a request, or undefined to forward it unchanged. */
export type FaultScript = (request: ProxiedRequest) => Fault | undefined;

type Target = { endpoint: string; accessKeyId: string; secretAccessKey: string };

export type FaultProxy = {
  /** The target's endpoint by way of the proxy. */
  endpoint: string;
  /** All requests so far, in their order. */
  requests: ProxiedRequest[];
  /** Sets the script for later requests. */
  follow: (script: FaultScript) => void;
  close: () => Promise<void>;
};

/** Starts a proxy in front of an S3 server that applies the script's fault to each request. */
export async function startFaultProxy(
  target: Target,
  script: FaultScript = () => undefined,
): Promise<FaultProxy> {
  const requests: ProxiedRequest[] = [];
  let following = script;
  const server = createServer((request, response) => {
    const { method = "GET", url: path = "/" } = request;
    const proxied = { method, path, n: requests.length + 1 };
    requests.push(proxied);
    const fault = following(proxied);
    // A broken connection makes the stream of the other side fail.
    for (const stream of [request, response]) stream.on("error", () => {});
    serve(target, request, response, fault).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port");
  return {
    endpoint: `http://127.0.0.1:${address.port}${new URL(target.endpoint).pathname}`.replace(
      /\/$/,
      "",
    ),
    requests,
    follow: (script) => {
      following = script;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function serve(
  target: Target,
  request: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
): Promise<void> {
  if (fault?.kind === "reset" && fault.during === "request") return resetWhileSent(request);
  const body = await buffer(request);
  if (fault?.kind === "hang") return;
  if (fault?.kind === "answer") return answer(request, response, fault);
  if (fault?.kind === "hold") await fault.until;
  const answered =
    fault?.kind === "truncate"
      ? await askTruncated(target, request, body.subarray(0, fault.bytes))
      : await ask(target, request, body, request.rawHeaders);
  if (fault?.kind === "lose-answer") return void request.socket.resetAndDestroy();
  if (fault?.kind !== "reset") {
    response.writeHead(answered.status, answered.headers).end(answered.body);
    return;
  }
  // The length is never reached, even if the body is empty.
  const promised = { "content-length": String(Math.max(answered.body.length, 1)) };
  response.writeHead(answered.status, { ...headersOf(answered), ...promised }).flushHeaders();
  response.write(answered.body.subarray(0, answered.body.length / 2), () =>
    request.socket.resetAndDestroy(),
  );
}

function headersOf({ headers }: Answered): Record<string, string> {
  const pairs = headers.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), headers[index + 1] ?? ""] as const] : [],
  );
  return Object.fromEntries(pairs.filter(([name]) => name !== "transfer-encoding"));
}

async function resetWhileSent(request: IncomingMessage): Promise<void> {
  if (request.headers["content-length"] !== "0") await once(request, "data");
  request.socket.resetAndDestroy();
}

function answer(
  { method }: IncomingMessage,
  response: ServerResponse,
  { status, code, headers = {} }: Extract<Fault, { kind: "answer" }>,
): void {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${code} by the tests</Message></Error>`;
  response.writeHead(status, { "content-type": "application/xml", ...headers });
  response.end(method === "HEAD" ? undefined : body);
}

type Answered = { status: number; headers: string[]; body: Buffer };

/** Forwards a request with its original path and headers, both of which are signed. */
async function ask(
  { endpoint }: Target,
  { method = "GET", url: path = "/" }: IncomingMessage,
  body: Uint8Array,
  headers: string[],
): Promise<Answered> {
  const { hostname, port } = new URL(endpoint);
  const upstream = requestOf({ hostname, port, method, path, headers, agent: false });
  upstream.end(body);
  const [answered] = (await once(upstream, "response")) as [IncomingMessage];
  return {
    status: answered.statusCode ?? 502,
    headers: answered.rawHeaders,
    body: await buffer(answered),
  };
}

/** Forwards the first bytes with a new signature, as the client's signature is for the whole body. */
async function askTruncated(
  target: Target,
  request: IncomingMessage,
  body: Uint8Array<ArrayBuffer>,
): Promise<Answered> {
  const { accessKeyId, secretAccessKey } = target;
  const { headers, method = "GET", url: path = "/" } = request;
  const kept = Object.entries(headers).filter(
    ([name]) =>
      !/^(?:authorization|content-length|content-md5|x-amz-(?:date|content-sha256))$/.test(name),
  );
  const signed = await new AwsV4Signer({
    method,
    url: `http://${headers.host}${path}`,
    headers: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
    body,
    accessKeyId,
    secretAccessKey,
    service: "s3",
    region: /Credential=[^/]+\/\d+\/([^/]+)\//.exec(headers.authorization ?? "")?.[1] ?? "auto",
  }).sign();
  signed.headers.set("host", headers.host ?? "");
  signed.headers.set("content-length", String(body.length));
  return ask(target, request, body, [...signed.headers].flat());
}
