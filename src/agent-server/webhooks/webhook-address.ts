import { hasHost, parseHostList } from "../../lib/host-list.ts";
import type { WebhookRules } from "../../lib/webhook-rules.ts";
import { type OutboundPolicy, outboundRefusal } from "../../revision-host/outbound-policy.ts";

/**
 * A host that does not exist. A path of the deployment, resolved against it, must stay on it, however it is
 * written.
 */
const OWN_HOST = "own.invalid";

/** Whether a webhook is a path of the deployment itself. */
export function isOwnPath(webhook: string): boolean {
  return webhook.startsWith("/");
}

/** Returns the reason why a webhook is refused, as a sentence; null if a run may have it. */
export function webhookRefusal(
  webhook: string,
  rules: WebhookRules,
  outbound: OutboundPolicy,
): string | null {
  const { max_url_length: max } = rules;
  if (rules.disabled) return "The project has disabled webhooks";
  if (max !== null && webhook.length > max) {
    return `The project accepts webhooks of at most ${max} characters`;
  }
  if (isOwnPath(webhook)) return pathRefusal(webhook, rules);
  const url = URL.parse(webhook);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return "Input should be a URL that begins with https:// or http://, or a path that begins with /";
  }
  return urlRefusal(url, rules) ?? networkRefusal(url, outbound);
}

function pathRefusal(path: string, { disable_loopback }: WebhookRules): string | null {
  if (URL.parse(path, `http://${OWN_HOST}`)?.host !== OWN_HOST) {
    return "Input should be a path of the deployment itself, which begins with a single /";
  }
  return disable_loopback
    ? 'The project does not take paths as webhooks: they need "disable_loopback": false in "webhooks.url" of its langgraph.json'
    : null;
}

function urlRefusal(url: URL, rules: WebhookRules): string | null {
  const { require_https, allowed_domains: domains, allowed_ports: ports } = rules;
  if (url.username !== "" || url.password !== "") return "A webhook should not have credentials";
  if (require_https && url.protocol !== "https:") {
    return "The project accepts only webhooks that begin with https://";
  }
  if (domains !== null && !hasHost(domains.flatMap(hostsOf), url.hostname)) {
    return "The project does not allow webhooks to this host";
  }
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  if (ports !== null && !ports.includes(port)) {
    return "The project does not allow webhooks to this port";
  }
  return null;
}

function networkRefusal(url: URL, outbound: OutboundPolicy): string | null {
  const refusal = outboundRefusal({ url: url.href, headers: new Headers() }, outbound);
  return refusal === null ? null : `The webhook is refused: ${refusal.reason}`;
}

/** Returns the domain in the form that URLs have; an empty list if it is not a host. */
function hostsOf(domain: string): readonly string[] {
  return parseHostList(domain) ?? [];
}
