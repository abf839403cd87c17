import { readFileSync } from "node:fs";
import { assert, describe, test } from "vitest";
import { newWebhookKey, webhookHeaders } from "../../../src/secrets/webhook-signature.ts";

type Verify = (key: string, headers: Record<string, string>, body: string) => unknown;

/** Returns the verification code of docs/webhooks.md. */
async function documented(): Promise<Verify> {
  const page = readFileSync(new URL("../../../docs/webhooks.md", import.meta.url), "utf8");
  const [, code] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
  assert(code !== undefined);
  const address = `data:text/javascript,${encodeURIComponent(code)}`;
  const { verifyWebhook } = (await import(/* @vite-ignore */ address)) as { verifyWebhook: Verify };
  return verifyWebhook;
}

const NOW = Math.floor(Date.now() / 1000);
const BODY = '{"text":"grüße 🌍"}';

function headersOf(keys: string[], timestamp = NOW) {
  return webhookHeaders(keys, { id: "a run", timestamp, body: BODY });
}

describe("the documented verification of webhooks", () => {
  test("accepts a signature by the key, also among others", async ({ expect }) => {
    const verify = await documented();
    const [key, previous] = [newWebhookKey(), newWebhookKey()];
    for (const keys of [[key], [key, previous], [previous, key]]) {
      expect(verify(key, await headersOf(keys), BODY)).toEqual({ text: "grüße 🌍" });
    }
  });

  test("refuses another key, body, id or time, and an old message", async ({ expect }) => {
    const verify = await documented();
    const key = newWebhookKey();
    const headers = await headersOf([key]);
    const other = /another signature/;
    expect(() => verify(newWebhookKey(), headers, BODY)).toThrow(other);
    expect(() => verify(key, headers, `${BODY} `)).toThrow(other);
    expect(() => verify(key, { ...headers, "webhook-id": "a run2" }, BODY)).toThrow(other);
    const later = { ...headers, "webhook-timestamp": String(NOW + 1) };
    expect(() => verify(key, later, BODY)).toThrow(other);
    const { "webhook-signature": _unsigned, ...unsigned } = headers;
    expect(() => verify(key, unsigned, BODY)).toThrow(other);
    const old = await headersOf([key], NOW - 301);
    expect(() => verify(key, old, BODY)).toThrow(/too old/);
    expect(() => verify(key, { ...headers, "webhook-timestamp": "soon" }, BODY)).toThrow(/too old/);
  });
});
