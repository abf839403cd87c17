/** Why connecting a service failed: a code of OAuth, or one of ours, and a text for people. */
export type OAuthFailure = { error: string; description: string };

const MAX_DESCRIPTION_CHARS = 300;

/** The characters that RFC 6749 allows. */
const ERROR_CODE = /^[\u0020-\u0021\u0023-\u005b\u005d-\u007e]{1,100}$/;

/** What a provider has said, made fit to be stored and shown: it may say anything. */
export function failureOf(error: unknown, description: unknown, fallback: string): OAuthFailure {
  return {
    error: typeof error === "string" && ERROR_CODE.test(error) ? error : "provider_error",
    description: typeof description === "string" ? plainText(description) || fallback : fallback,
  };
}

function plainText(text: string): string {
  const clean = text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ");
  return clean.trim().slice(0, MAX_DESCRIPTION_CHARS).toWellFormed();
}
