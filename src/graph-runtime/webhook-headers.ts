import type { WebhookRules } from "../lib/webhook-rules.ts";

/** The webhooks of a project: which its runs may have, and what is sent with them. */
export type WebhookDefinition = {
  rules: WebhookRules;
  /** By name; a value may have templates, `${{ env.NAME }}`. */
  headers: Record<string, string>;
};

const TEMPLATE = /\$\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;

/** The headers with the values of the variables that they name. It throws for one that is not set. */
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
