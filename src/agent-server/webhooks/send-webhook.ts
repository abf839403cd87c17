import { withTimeout } from "../../lib/with-timeout.ts";
import { webhookHeaders } from "../../secrets/webhook-signature.ts";
import type { AgentCall } from "../agent-call.ts";
import { requestedGraphs } from "../graph-host.ts";
import { refusalOf, webhookRules } from "./allowed-webhook.ts";
import { isOwnPath } from "./webhook-address.ts";
import { signingKeys } from "./signing-keys.ts";
import { messageOf } from "../../lib/error-text.ts";

/** Milliseconds within which a receiver must answer. */
const ANSWER_LIMIT_MS = 10_000;

/** Maximum milliseconds of an attempt, including everything that it waits for. */
export const ATTEMPT_LIMIT_MS = 20_000;

/** Limits on the headers that a project's code may add to its webhooks. */
const MAX_HEADERS = 50;
const MAX_HEADER_CHARS = 8192;

/** Host for calls to the deployment's own agent server, whose entrypoint uses only the path. */
const OWN_SERVER = "http://localhost";

/** With this status a receiver says that it no longer exists. */
const GONE = 410;

export type WebhookMessage = {
  /** The same for every attempt. */
  id: string;
  webhook: string;
  /** JSON text of an object, to which the time of the attempt is added. */
  payload: string;
};

/** `isFinal` means that another attempt would fail, too. */
export type WebhookFailure = { error: string; isFinal: boolean };

/** Makes one attempt, within `ATTEMPT_LIMIT_MS`; returns null if the receiver has accepted it. Never rejects. */
export async function sendWebhook(
  call: AgentCall,
  message: WebhookMessage,
): Promise<WebhookFailure | null> {
  const late = () => passing(`The attempt took more than ${ATTEMPT_LIMIT_MS / 1000} seconds`);
  const attempt = send(call, message).catch((error: unknown) => passing(messageOf(error)));
  return withTimeout(ATTEMPT_LIMIT_MS, attempt, late);
}

async function send(
  call: AgentCall,
  { id, webhook, payload }: WebhookMessage,
): Promise<WebhookFailure | null> {
  // A webhook that was allowed when the run was created may be refused now.
  const refusal = await refusalOf(call, webhook);
  if (refusal !== null) return { error: refusal, isFinal: true };
  const [own, { current, previous }] = await Promise.all([
    projectHeaders(call),
    signingKeys(call.env, call.scope),
  ]);
  const now = Date.now();
  const body = `{"webhook_sent_at":${JSON.stringify(new Date(now).toISOString())},${payload.slice(1)}`;
  const keys = previous === null ? [current] : [current, previous.key];
  const timestamp = Math.floor(now / 1000);
  for (const [name, value] of Object.entries(await webhookHeaders(keys, { id, timestamp, body }))) {
    own.set(name, value);
  }
  own.set("content-type", "application/json");
  const response = await answerTo((signal) => post(call, webhook, { headers: own, body, signal }));
  // The response body is discarded: callers who may name a webhook must not be able to read what its address returns.
  await response.body?.cancel();
  const { status, ok } = response;
  if (ok) return null;
  return { error: `The receiver answered ${status}`, isFinal: status === GONE };
}

/**
 * Throws if there is no answer in time. The timer of an `AbortSignal.timeout` would continue after the answer, and
 * keep the object in memory.
 */
async function answerTo(ask: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
  const abort = new AbortController();
  return withTimeout(ANSWER_LIMIT_MS, ask(abort.signal), () => {
    abort.abort();
    throw new Error(`The receiver did not answer within ${ANSWER_LIMIT_MS / 1000} seconds`);
  });
}

function post(
  { ctx, scope }: AgentCall,
  webhook: string,
  init: { headers: Headers; body: string; signal: AbortSignal },
): Promise<Response> {
  const request = {
    ...init,
    method: "POST",
    // A redirect could lead to an address that is not allowed.
    redirect: "manual",
  } as const;
  if (!isOwnPath(webhook)) return fetch(webhook, request);
  if (ctx.exports === undefined) throw new Error("The platform gives no ctx.exports");
  return ctx.exports.AgentServer({ props: scope }).fetch(new URL(webhook, OWN_SERVER), request);
}

/** Returns the headers that the project's `langgraph.json` names, with values from its code's environment. */
async function projectHeaders(call: AgentCall): Promise<Headers> {
  const { has_headers } = await webhookRules(call);
  const given: unknown = has_headers ? await requestedGraphs(call).webhookHeaders() : {};
  const entries = Object.entries(given ?? {}).slice(0, MAX_HEADERS);
  const headers = new Headers();
  for (const [name, value] of entries) {
    if (typeof value !== "string" || value.length > MAX_HEADER_CHARS) {
      throw new Error(`The project's header ${name} is not a text, or is too long`);
    }
    headers.set(name, value);
  }
  // These are set by the connection itself.
  for (const name of ["host", "content-length", "transfer-encoding"]) headers.delete(name);
  return headers;
}

function passing(error: string): WebhookFailure {
  return { error, isFinal: false };
}
