import { setTimeout as sleep } from "node:timers/promises";
import { startUpstream } from "../../support/upstream.ts";
import type { Random } from "./random.ts";

const MAX_ANSWER_MS = 120;

type Delivery = { id: string; body: Record<string, unknown> };

export type WebhookReceiver = {
  /** Returns the address for one kind of webhook. */
  address: (kind: string) => string;
  /** Returns the messages of a kind by their ids, each as often as it came. */
  received: (kind: string) => Map<string, Record<string, unknown>[]>;
  close: () => Promise<void>;
};

/** Receives webhooks, and answers each after a delay, in which its sender may be killed. */
export async function startWebhookReceiver(random: Random): Promise<WebhookReceiver> {
  const upstream = await startUpstream((_request, response) => {
    void sleep(random.between(0, MAX_ANSWER_MS)).then(() => response.end());
  });
  const deliveries = (kind: string): Delivery[] =>
    upstream.seen
      .filter(({ url }) => url === `/${kind}`)
      .map(({ headers, body }) => ({ id: String(headers["webhook-id"]), body: JSON.parse(body) }));
  return {
    address: (kind) => `${upstream.url}/${kind}`,
    received: (kind) => {
      const byId = new Map<string, Record<string, unknown>[]>();
      for (const { id, body } of deliveries(kind)) byId.set(id, [...(byId.get(id) ?? []), body]);
      return byId;
    },
    close: upstream.close,
  };
}
