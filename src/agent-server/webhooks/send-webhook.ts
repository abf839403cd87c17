import { withTimeout } from "../../lib/with-timeout.ts";
import { webhookHeaders } from "../../secrets/webhook-signature.ts";
import type { AgentCall } from "../agent-call.ts";
import { requestedGraphs } from "../graph-host.ts";
import { refusalOf, webhookRules } from "./allowed-webhook.ts";
import { isOwnPath } from "./webhook-address.ts";
import { signingKeys } from "./signing-keys.ts";
import { messageOf } from "../../lib/error-text.ts";

/** How long a receiver may take to answer. */
const ANSWER_LIMIT_MS = 10_000;

/** No attempt lasts longer, whatever it waits for. */
export const ATTEMPT_LIMIT_MS = 20_000;

/** Bounds of what a project's code may have sent with its webhooks. */
const MAX_HEADERS = 50;
const MAX_HEADER_CHARS = 8192;

/** A host of the deployment's own agent server, whose entrypoint looks at the path alone. */
const OWN_SERVER = "http://localhost";

/** By this status a receiver says that it is not there any more. */
const GONE = 410;

export type WebhookMessage = {
  /** The same for every attempt. */
  id: string;
  webhook: string;
  /** JSON text of an object, to which the time of the attempt is added. */
  payload: string;
};

/** `isFinal`: another attempt would fail, too. */
export type WebhookFailure = { error: string; isFinal: boolean };

/** Makes one attempt, within `ATTEMPT_LIMIT_MS`; null when the receiver has taken it. Never rejects. */
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
  // What was allowed when the run was made may be refused by now.
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
  // The answer is not told to anybody: who may name a webhook may not read by it what is behind its address.
  await response.body?.cancel();
  const { status, ok } = response;
  if (ok) return null;
  return { error: `The receiver answered ${status}`, isFinal: status === GONE };
}

/** A signal's own timer would go on after the answer, and keep the object in memory. */
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
    // A redirect could lead to an address that is refused.
    redirect: "manual",
  } as const;
  if (!isOwnPath(webhook)) return fetch(webhook, request);
  if (ctx.exports === undefined) throw new Error("The platform gives no ctx.exports");
  return ctx.exports.AgentServer({ props: scope }).fetch(new URL(webhook, OWN_SERVER), request);
}

/** The headers that the project's `langgraph.json` names, with the values that its code sees. */
async function projectHeaders(call: AgentCall): Promise<Headers> {
  const { has_headers } = await webhookRules(call);
  const given: unknown = has_headers ? await requestedGraphs(call).webhookHeaders() : {};
  const entries = Object.entries(given ?? {}).slice(0, MAX_HEADERS);
  const headers = new Headers();
  for (const [name, value] of entries) {
    if (typeof value !== "string" || value.length > MAX_HEADER_CHARS) {
      throw new Error(`The project's header ${name} is no text, or too long`);
    }
    headers.set(name, value);
  }
  // The connection's own.
  for (const name of ["host", "content-length", "transfer-encoding"]) headers.delete(name);
  return headers;
}

function passing(error: string): WebhookFailure {
  return { error, isFinal: false };
}
