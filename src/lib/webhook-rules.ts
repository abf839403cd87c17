/** What a project says of the webhooks that its runs may have. */
export type WebhookRules = {
  /** No run has one. */
  disabled: boolean;
  require_https: boolean;
  /** Host names, and `*.x` for what is below x; null for any. */
  allowed_domains: string[] | null;
  /** Null for any. */
  allowed_ports: number[] | null;
  max_url_length: number | null;
  /** A path of the deployment's own is refused. */
  disable_loopback: boolean;
  /** Whether the graph host has headers to send with each. */
  has_headers: boolean;
};

/** The rules of a project that says nothing. */
export const DEFAULT_WEBHOOK_RULES: WebhookRules = {
  disabled: false,
  require_https: false,
  allowed_domains: null,
  allowed_ports: null,
  max_url_length: null,
  disable_loopback: true,
  has_headers: false,
};
