/** A project's rules for the webhooks of its runs. */
export type WebhookRules = {
  /** Whether webhooks are refused for every run. */
  disabled: boolean;
  require_https: boolean;
  /** Host names, or `*.x` for hosts below x; null allows any. */
  allowed_domains: string[] | null;
  /** Null allows any port. */
  allowed_ports: number[] | null;
  max_url_length: number | null;
  /** Whether a path of the deployment itself is refused. */
  disable_loopback: boolean;
  /** Whether the graph host has headers to send with each webhook. */
  has_headers: boolean;
};

/** The rules of a project that configures none. */
export const DEFAULT_WEBHOOK_RULES: WebhookRules = {
  disabled: false,
  require_https: false,
  allowed_domains: null,
  allowed_ports: null,
  max_url_length: null,
  disable_loopback: true,
  has_headers: false,
};
