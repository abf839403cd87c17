import type { WebhookRules } from "../lib/webhook-rules.ts";

/** A project's rules for the webhooks of its runs, and the headers that are sent with them. */
export type WebhookDefinition = {
  rules: WebhookRules;
  /** Header values by name; a value may contain templates, `${{ env.NAME }}`. */
  headers: Record<string, string>;
};

const TEMPLATE = /\$\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;

/** Returns the headers with the templates replaced by the variables they name. Throws when a variable is not set. */
export function resolveHeaders(
  headers: Record<string, string>,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const resolved = Object.entries(headers).map(([name, value]) => {
    const text = value.replace(TEMPLATE, (_template, variable: string) => {
      const found = env[variable];
      if (found !== undefined) return found;
      throw new Error(`The header ${name} of webhooks needs ${variable}, which is not set`);
    });
    return [name, text];
  });
  return Object.fromEntries(resolved);
}
