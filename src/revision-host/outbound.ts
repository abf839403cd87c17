import { WorkerEntrypoint } from "cloudflare:workers";
import { parseSettings } from "../env.ts";
import type { HostList } from "../lib/host-list.ts";
import { UsageMeter } from "../deployment-log/usage-meter.ts";
import { outboundRefusal, type OutboundRefusal } from "./outbound-policy.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";

/** `hosts` is the deployment's own list; null if it has none. */
export type OutboundProps = RevisionRef & { hosts: HostList | null };

/**
 * The only network access of deployed code: its `fetch` calls arrive here. A request that the policy refuses is
 * answered 403; any other is forwarded unchanged, and the bytes of its bodies are counted as they pass. Redirects
 * are not followed here, but by the caller, so that each step is checked.
 */
export class Outbound extends WorkerEntrypoint<Env, OutboundProps> {
  override async fetch(request: Request): Promise<Response> {
    const { props } = this.ctx;
    const { outboundHosts, outboundPrivateEndpoints } = parseSettings(this.env);
    const meter = new UsageMeter(this.env, this.ctx, props);
    meter.add({ requests: 1 });
    const refusal = outboundRefusal(request, {
      installation: outboundHosts,
      deployment: props.hosts,
      allowPrivate: outboundPrivateEndpoints,
    });
    if (refusal !== null) return refused(request, refusal, meter);
    const response = await fetch(request.url, outgoing(request, meter));
    return incoming(response, meter);
  }

  /** Refuses a socket, because only HTTP is allowed. For the deployed code the connection is lost at once. */
  override async connect(socket: Socket): Promise<void> {
    const meter = new UsageMeter(this.env, this.ctx, this.ctx.props);
    meter.add({ requests: 1 });
    // Seen from this side, the requested address is the local one.
    const { localAddress = "" } = await socket.opened;
    const message = `Outbound connection refused: ${localAddress}: only http and https are allowed`;
    meter.refuse(message);
    throw new Error(message);
  }
}

/** Leaves out what could direct the request to something other than its URL: `cf` options, another `Host`. */
function outgoing(request: Request, meter: UsageMeter): RequestInit {
  const headers = new Headers(request.headers);
  headers.delete("host");
  return {
    method: request.method,
    headers,
    body: countBytes(request.body, headers, (bytes) => meter.add({ bytes_sent: bytes })),
    redirect: "manual",
    // Bodies pass unchanged: compressed ones stay compressed, and are counted in that form.
    encodeResponseBody: "manual",
  };
}

function incoming(response: Response, meter: UsageMeter): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const counted = countBytes(body, headers, (bytes) => meter.add({ bytes_received: bytes }));
  return new Response(counted, { status, statusText, headers, encodeBody: "manual" });
}

function refused(request: Request, { rule, reason }: OutboundRefusal, meter: UsageMeter) {
  const { protocol, host } = new URL(request.url);
  // The path and query can contain secrets, which must not be logged.
  const what = `${request.method} ${protocol}//${host}`;
  meter.refuse(`Outbound request refused: ${what}: ${reason}`);
  return Response.json(
    { detail: `The request ${what} is refused: ${reason}`, rule, host },
    { status: 403 },
  );
}

/**
 * Returns the same body, and reports the size of each chunk as it passes. If the headers tell the length of the
 * body, it keeps that length.
 */
function countBytes(
  body: ReadableStream<Uint8Array> | null,
  headers: Headers,
  onBytes: (bytes: number) => void,
): ReadableStream<Uint8Array> | null {
  if (body === null) return null;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onBytes(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
  const counted = body.pipeThrough(counter);
  const length = headers.get("content-length");
  return length === null || !/^\d+$/.test(length)
    ? counted
    : counted.pipeThrough(new FixedLengthStream(Number(length)));
}
