import { z } from "zod";
import { parseHostList } from "../../src/lib/host-list.ts";
import type { WebhookDefinition } from "../../src/graph-runtime/webhook-headers.ts";
import { CliError } from "../cli-error.ts";

const DEFAULT_PREFIX = "LG_WEBHOOK_";

const MAX_PORT = 65_535;

/** Matches the templates in a header's value, including malformed ones. */
const TEMPLATE = /\$\{\{(.*?)\}\}/g;
const VARIABLE = /^\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*$/;

export const webhooksSchema = z.strictObject({
  env_prefix: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  url: z
    .strictObject({
      require_https: z.boolean().optional(),
      allowed_domains: z.array(z.string()).optional(),
      allowed_ports: z.array(z.int().min(1).max(MAX_PORT)).optional(),
      max_url_length: z.int().positive().optional(),
      disable_loopback: z.boolean().optional(),
    })
    .optional(),
});

type WebhooksConfig = z.infer<typeof webhooksSchema> | null | undefined;

/** Reads the setting. Throws a `CliError` that names each header and each domain that cannot be used. */
export function readWebhooks(
  config: WebhooksConfig,
  http: Record<string, unknown> | null | undefined,
  configPath: string,
): WebhookDefinition | undefined {
  const disabled = http?.["disable_webhooks"] === true;
  if (!config && !disabled) return undefined;
  const { env_prefix: prefix = DEFAULT_PREFIX, headers = {}, url = {} } = config ?? {};
  const problems = [
    ...(url.allowed_domains ?? []).flatMap(domainProblem),
    ...Object.entries(headers).flatMap(([name, value]) => headerProblems(name, value, prefix)),
  ];
  if (problems.length > 0) {
    throw new CliError(`${configPath} cannot be used:\n${problems.join("\n")}`);
  }
  return {
    headers,
    rules: {
      disabled,
      require_https: url.require_https ?? false,
      allowed_domains: url.allowed_domains ?? null,
      allowed_ports: url.allowed_ports ?? null,
      max_url_length: url.max_url_length ?? null,
      disable_loopback: url.disable_loopback ?? true,
      has_headers: Object.keys(headers).length > 0,
    },
  };
}

function domainProblem(domain: string): string[] {
  if (!domain.includes(",") && parseHostList(domain) !== null) return [];
  return [
    `  "webhooks.url.allowed_domains": "${domain}" is not a host name, such as *.example.com`,
  ];
}

function headerProblems(name: string, value: string, prefix: string): string[] {
  const at = `  "webhooks.headers.${name}"`;
  if (!isHeader(name, value)) return [`${at} is not a header`];
  return [...value.matchAll(TEMPLATE)].flatMap(([template, inner = ""]) => {
    const variable = VARIABLE.exec(inner)?.[1];
    if (variable === undefined) return [`${at}: ${template} should be like \${{ env.${prefix}X }}`];
    if (variable.startsWith(prefix)) return [];
    return [`${at}: the name of ${variable} should begin with ${prefix}`];
  });
}

function isHeader(name: string, value: string): boolean {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
}
