/** How far the webhook of a run is, as it is stored with the run. */
export type WebhookRecord = {
  webhook: string;
  /** "waiting": the run has not ended. "pending": it has, and the receiver has not taken the webhook yet. */
  status: "waiting" | "pending" | "delivered" | "failed";
  attempts: number;
  /** Epoch milliseconds. */
  last_attempt_at: number | null;
  /** Of the last attempt, when it failed. */
  error: string | null;
};

/** JSON text of the record of a run that is being made; null for one without a webhook. */
export function storedWebhook(webhook: string | undefined): string | null {
  if (webhook === undefined) return null;
  const facts = { attempts: 0, last_attempt_at: null, error: null };
  const record: WebhookRecord = { webhook, status: "waiting", ...facts };
  return JSON.stringify(record);
}

/** As the API shows it on the run. */
export type WebhookDelivery = Omit<WebhookRecord, "webhook" | "last_attempt_at"> & {
  last_attempt_at: string | null;
};
