import { isSignatureOf, MIN_SECRET_CHARS, signatureOf } from "./signature.ts";

/**
 * Tokens that only this installation can have made: base64url JSON, a dot and its signature. `purpose`
 * keeps a token for one thing from being taken for another.
 */
export async function signToken(secret: string, purpose: string, value: unknown): Promise<string> {
  const body = Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${body}.${await signatureOf(checked(secret), signed(purpose, body))}`;
}

/** The value of a genuine token; null otherwise. */
export async function readToken(secret: string, purpose: string, token: string): Promise<unknown> {
  const [body, signature, more] = token.split(".");
  if (body === undefined || signature === undefined || more !== undefined) return null;
  if (!(await isSignatureOf(checked(secret), signed(purpose, body), signature))) return null;
  return JSON.parse(Buffer.from(body, "base64url").toString()) as unknown;
}

function checked(secret: string): string {
  if (secret.length >= MIN_SECRET_CHARS) return secret;
  throw new Error(`SIGNING_SECRET must have at least ${MIN_SECRET_CHARS} characters`);
}

function signed(purpose: string, body: string): string {
  return `${purpose}\n${body}`;
}
