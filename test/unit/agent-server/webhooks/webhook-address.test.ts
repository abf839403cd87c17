import { describe, test } from "vitest";
import { webhookRefusal } from "../../../../src/agent-server/webhooks/webhook-address.ts";
import { DEFAULT_WEBHOOK_RULES, type WebhookRules } from "../../../../src/lib/webhook-rules.ts";
import type { OutboundPolicy } from "../../../../src/revision-host/outbound-policy.ts";

const OPEN: OutboundPolicy = { installation: ["*"], deployment: null, allowPrivate: false };

function refusal(
  webhook: string,
  rules: Partial<WebhookRules> = {},
  outbound: Partial<OutboundPolicy> = {},
): string | null {
  return webhookRefusal(webhook, { ...DEFAULT_WEBHOOK_RULES, ...rules }, { ...OPEN, ...outbound });
}

const PATHS = { disable_loopback: false };

describe("an allowed webhook", () => {
  test.for<[webhook: string, rules?: Partial<WebhookRules>, outbound?: Partial<OutboundPolicy>]>([
    ["https://hooks.example.com/a?b=c"],
    ["http://hooks.example.com:8080"],
    ["https://hooks.example.com", { require_https: true }],
    ["https://a.example.com", { allowed_domains: ["other.example", "*.example.com"] }],
    ["https://EXAMPLE.com.", { allowed_domains: ["example.com"] }],
    ["https://example.com", { allowed_ports: [443] }],
    ["http://example.com", { allowed_ports: [80] }],
    ["https://example.com:8443", { allowed_ports: [443, 8443] }],
    ["https://a.example", { max_url_length: 17 }],
    ["/threads", PATHS],
    ["/a/../b?c=d", PATHS],
    // The rules for hosts do not apply to paths.
    ["/a", { ...PATHS, require_https: true, allowed_domains: [], allowed_ports: [] }],
    ["http://127.0.0.1:9000/hook", {}, { allowPrivate: true }],
  ])("is %s", ([webhook, rules, outbound], { expect }) => {
    expect(refusal(webhook, rules, outbound)).toBe(null);
  });
});

describe("a refused webhook", () => {
  test.for<
    [
      webhook: string,
      reason: RegExp,
      rules?: Partial<WebhookRules>,
      outbound?: Partial<OutboundPolicy>,
    ]
  >([
    ["https://a.example", /disabled webhooks/, { disabled: true }],
    ["/a", /disabled webhooks/, { ...PATHS, disabled: true }],
    ["https://a.example", /at most 16 characters/, { max_url_length: 16 }],
    ["hooks.example.com", /should be a URL/],
    ["ftp://a.example", /should be a URL/],
    ["file:///etc/passwd", /should be a URL/],
    ["javascript:alert(1)", /should be a URL/],
    ["https://", /should be a URL/],
    ["https://user:secret@a.example", /credentials/],
    ["http://a.example", /begin with https/, { require_https: true }],
    ["https://example.com", /this host/, { allowed_domains: ["*.example.com"] }],
    ["https://example.com.evil.example", /this host/, { allowed_domains: ["example.com"] }],
    ["https://a.example", /this host/, { allowed_domains: [] }],
    ["https://a.example:8443", /this port/, { allowed_ports: [443] }],
    ["http://a.example", /this port/, { allowed_ports: [443] }],
    ["/a", /disable_loopback/],
    ["//evil.example/a", /begins with a single/, PATHS],
    ["/\\evil.example/a", /begins with a single/, PATHS],
    ["/\t/evil.example/a", /begins with a single/, PATHS],
    ["http://localhost:2024/hook", /private or local/],
    ["http://127.0.0.1/hook", /private or local/],
    ["http://2130706433/hook", /private or local/],
    ["http://[::1]/hook", /private or local/],
    ["http://[::ffff:10.0.0.1]/hook", /private or local/],
    ["https://10.1.2.3", /private or local/],
    ["https://169.254.169.254/latest/meta-data", /private or local/],
    ["https://metadata.google.internal", /private or local/],
    ["https://a.example", /installation does not allow/, {}, { installation: ["b.example"] }],
    ["https://a.example", /THREADWORKS_OUTBOUND_HOSTS/, {}, { deployment: ["b.example"] }],
  ])("is %s", ([webhook, reason, rules, outbound], { expect }) => {
    expect(refusal(webhook, rules, outbound)).toMatch(reason);
  });
});
