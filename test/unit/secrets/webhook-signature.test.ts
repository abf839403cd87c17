import { describe, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { newWebhookKey, webhookHeaders } from "../../../src/secrets/webhook-signature.ts";

function message(body: string) {
  return { id: "a run", timestamp: Math.floor(Date.now() / 1000), body };
}

describe("the signature of a webhook", () => {
  test.for(["{}", '{"text":"grüße 🌍"}', `{"long":"${"x".repeat(100_000)}"}`])(
    "equals that of the standard's library: %.30s",
    async (body, { expect }) => {
      const key = newWebhookKey();
      const { id, timestamp } = message(body);
      const headers = await webhookHeaders([key], { id, timestamp, body });
      expect(headers).toEqual({
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": new Webhook(key).sign(id, new Date(timestamp * 1000), body),
      });
    },
  );

  test("verifies with each of the keys, and with no other", async ({ expect }) => {
    const keys = [newWebhookKey(), newWebhookKey()];
    const headers = await webhookHeaders(keys, message("{}"));
    for (const key of keys) expect(new Webhook(key).verify("{}", headers)).toEqual({});
    expect(() => new Webhook(newWebhookKey()).verify("{}", headers)).toThrow();
    expect(() => new Webhook(keys[0] ?? "").verify("{ }", headers)).toThrow();
  });
});
