import { invalidField } from "../../lib/api-error.ts";
import { DEFAULT_WEBHOOK_RULES, type WebhookRules } from "../../lib/webhook-rules.ts";
import type { OutboundPolicy } from "../../revision-host/outbound-policy.ts";
import { readOutboundPolicy } from "../../revision-host/load-revision.ts";
import type { AgentCall } from "../agent-call.ts";
import { describedProject, RevisionCache } from "../described-project.ts";
import { assertSignable } from "./signing-keys.ts";
import { webhookRefusal } from "./webhook-address.ts";

const policies = new RevisionCache<OutboundPolicy>();

/** Throws for a webhook that no run may have, before anything is stored. */
export async function assertWebhook(
  call: AgentCall,
  webhook: string | null | undefined,
): Promise<void> {
  if (webhook === null || webhook === undefined) return;
  const refusal = await refusalOf(call, webhook);
  if (refusal !== null) throw invalidField(["body", "webhook"], refusal, "value_error");
  assertSignable(call.env);
}

/** Returns the reason why no run of this revision may have the webhook, as a sentence; null if it is allowed. */
export async function refusalOf(call: AgentCall, webhook: string): Promise<string | null> {
  const [rules, policy] = await Promise.all([webhookRules(call), outboundPolicy(call)]);
  return webhookRefusal(webhook, rules, policy);
}

export async function webhookRules(call: AgentCall): Promise<WebhookRules> {
  return (await describedProject(call)).webhooks ?? DEFAULT_WEBHOOK_RULES;
}

async function outboundPolicy(call: AgentCall): Promise<OutboundPolicy> {
  const known = policies.get(call);
  return known ?? policies.set(call, await readOutboundPolicy(call.env, call.revision));
}
