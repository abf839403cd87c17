import { ApiError } from "../lib/api-error.ts";
import { isSignatureOf, MIN_SECRET_CHARS, signatureOf } from "./signature.ts";

/**
 * Signs a token that only this installation can create and that expires: base64url JSON, a dot and its signature.
 * `purpose` prevents a token for one use from being accepted for another.
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

/** Returns the value that was signed for this purpose; null when the token is not genuine, or has expired. */
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

/** Throws a 503 that tells the operator how to set the secret when it is missing or too short to sign with. */
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
