import { z } from "@hono/zod-openapi";
import { parseHostList } from "../../lib/host-list.ts";
import { isReservedSecretName, OUTBOUND_HOSTS, PUSH_SECRET } from "../../secrets/secret-names.ts";
import { MIN_SECRET_CHARS } from "../../secrets/signature.ts";

/** Responses contain this text instead of a secret's value. */
export const SECRET_MASK = "**********";

const MAX_SECRETS = 64;
const MAX_NAME_CHARS = 256;
const MAX_VALUE_BYTES = 5 * 1024;

const secretName = z
  .string()
  .max(MAX_NAME_CHARS)
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    "String should be a variable's name: letters, digits and underscores, and no digit at the beginning",
  );

const secretValue = z.string().superRefine((value, ctx) => {
  const message = valueProblem(value);
  if (message !== null) refuse(ctx, [], message);
});

const secretSchema = z.strictObject({ name: secretName, value: secretValue }).openapi("Secret");

export type Secret = z.infer<typeof secretSchema>;

const secretChangeSchema = z
  .strictObject({ name: secretName, value: secretValue.nullish() })
  .openapi("SecretChange");

/** A secret to set. Without a value, it keeps its former value. */
export type SecretChange = z.infer<typeof secretChangeSchema>;

/** Secrets of a new deployment. Null and missing mean the same as an empty list: no secrets. */
export const secretsSchema = z
  .array(secretSchema)
  .max(MAX_SECRETS)
  .superRefine(checkSecrets)
  .nullish();

/** Changes of secrets. Null and missing mean the same as an empty list: the existing secrets are kept. */
export const secretChangesSchema = z
  .array(secretChangeSchema)
  .max(MAX_SECRETS)
  .superRefine(checkSecrets)
  .nullish();

function checkSecrets(secrets: readonly SecretChange[], ctx: z.RefinementCtx): void {
  const names = new Set<string>();
  for (const [index, { name, value }] of secrets.entries()) {
    const path = [index, "name"];
    if (isReservedSecretName(name)) refuse(ctx, path, `${name} is reserved for the platform`);
    if (names.has(name)) refuse(ctx, path, `There are two secrets named ${name}`);
    names.add(name);
    if (value == null) continue;
    if (name === OUTBOUND_HOSTS && parseHostList(value) === null) {
      refuse(ctx, [index, "value"], "String should be hosts separated by commas, or 'none'");
    }
    if (name === PUSH_SECRET && value.length < MIN_SECRET_CHARS) {
      const message = `String should have at least ${MIN_SECRET_CHARS} characters`;
      refuse(ctx, [index, "value"], message);
    }
  }
}

function valueProblem(value: string): string | null {
  if (new TextEncoder().encode(value).byteLength > MAX_VALUE_BYTES) {
    return `String should have at most ${MAX_VALUE_BYTES} bytes`;
  }
  return value === SECRET_MASK
    ? "String should be the secret itself: this is the mask that responses show instead"
    : null;
}

function refuse(ctx: z.RefinementCtx, path: (string | number)[], message: string): void {
  ctx.addIssue({ code: "custom", path, message, params: { type: "value_error" } });
}
