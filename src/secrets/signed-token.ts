import { ApiError } from "../lib/api-error.ts";
import { isSignatureOf, MIN_SECRET_CHARS, signatureOf } from "./signature.ts";

/**
 * Tokens that only this installation can have made, and that are good for a while: base64url JSON, a dot and its
 * signature. `purpose` keeps a token for one thing from being taken for another.
 */
export async function signToken(
  secret: string,
  purpose: string,
  value: object,
  lifetimeMs: number,
): Promise<string> {
  const json = JSON.stringify({ ...value, expiresAt: Date.now() + lifetimeMs });
  const body = Buffer.from(json).toString("base64url");
  return `${body}.${await signatureOf(checked(secret), signed(purpose, body))}`;
}

/** The value that was signed for this purpose; null when the token is not genuine, or too old. */
export async function readToken<Value extends object>(
  secret: string,
  purpose: string,
  token: string,
): Promise<Value | null> {
  const [body, signature, more] = token.split(".");
  if (body === undefined || signature === undefined || more !== undefined) return null;
  if (!(await isSignatureOf(checked(secret), signed(purpose, body), signature))) return null;
  const text = Buffer.from(body, "base64url").toString();
  const { expiresAt, ...value } = JSON.parse(text) as { expiresAt?: unknown };
  return typeof expiresAt === "number" && expiresAt >= Date.now() ? (value as Value) : null;
}

/** It throws a 503 that says what an operator has to do: no link can be signed without a secret. */
function checked(secret: string): string {
  if (secret.length >= MIN_SECRET_CHARS) return secret;
  const what = secret === "" ? "is not set" : `has fewer than ${MIN_SECRET_CHARS} characters`;
  const remedy =
    "in a checkout `npm start` writes one to .dev.vars when it has none, and in an account " +
    "`wrangler secret put SIGNING_SECRET` sets it";
  throw new ApiError("unavailable", `Links cannot be signed: SIGNING_SECRET ${what}; ${remedy}`);
}

function signed(purpose: string, body: string): string {
  return `${purpose}\n${body}`;
}
