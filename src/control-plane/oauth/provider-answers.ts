import { isObject, memberOf } from "../../lib/json.ts";
import type { OAuthProviderType } from "../../db/oauth-schema.ts";
import { readLimited } from "../../lib/bytes.ts";

/** The answer of a token endpoint: its status, and the JSON of its body, or undefined when it is not JSON. */
export type TokenAnswer = { status: number; body: unknown };

type Members = Record<string, unknown>;

/** Errors that Slack reports with status 200, but that are its own fault or due to too many requests. */
const SLACK_PASSING_ERRORS: ReadonlySet<unknown> = new Set([
  "fatal_error",
  "internal_error",
  "ratelimited",
  "request_timeout",
  "service_unavailable",
]);

/**
 * Converts a provider's answer to the form of RFC 6749.
 *
 * The ID token of OpenID Connect is removed: the issuer of a provider that is described by its endpoints alone is
 * unknown, so the ID token could not be verified, and nothing here needs it.
 */
export function standardAnswer(
  { status, body }: TokenAnswer,
  type: OAuthProviderType | null,
): TokenAnswer {
  if (!isObject(body)) return { status, body };
  const members = told(type === "slack" ? fromSlack(body) : body);
  delete members["id_token"];
  // Some providers report errors with status 200.
  const isError = status === 200 && members["error"] !== undefined && !("access_token" in members);
  if (isError) return { status: statusOfError(members["error"], type), body: members };
  if ("access_token" in members) members["token_type"] ??= "bearer";
  if (Array.isArray(members["scope"])) members["scope"] = members["scope"].join(" ");
  return { status, body: members };
}

/** Returns a readable name of the account; null when the answer has none. */
export function accountLabel(body: unknown, type: OAuthProviderType | null): string | null {
  return type === "slack" ? text(memberOf(memberOf(body, "team"), "name")) : null;
}

/** Returns what a client needs besides the token, such as the URL of the user's own server. */
export function tokenMetadata(
  body: unknown,
  type: OAuthProviderType | null,
): Record<string, string> | null {
  const found: Record<string, string | null> =
    type === "salesforce"
      ? { instance_url: text(memberOf(body, "instance_url")) }
      : type === "slack"
        ? {
            team_id: text(memberOf(memberOf(body, "team"), "id")),
            team_name: text(memberOf(memberOf(body, "team"), "name")),
            user_id: text(memberOf(memberOf(body, "authed_user"), "id")),
          }
        : {};
  const given = Object.entries(found).filter((entry): entry is [string, string] => !!entry[1]);
  return given.length === 0 ? null : Object.fromEntries(given);
}

/**
 * Selects the user's token instead of the bot's. It is in a member of its own, except in the answer to a refresh.
 */
function fromSlack(body: Members): Members {
  const user = memberOf(body, "authed_user");
  const own = isObject(user) && "access_token" in user ? { ...body, ...user } : body;
  // Slack uses `token_type` for the token's kind of owner: "user".
  return body["ok"] === false ? { error: body["error"] } : { ...own, token_type: "bearer" };
}

function statusOfError(error: unknown, type: OAuthProviderType | null): number {
  return type === "slack" && SLACK_PASSING_ERRORS.has(error) ? 503 : 400;
}

/** Removes members without content: the `scope` of GitHub's apps is empty, others have null. */
function told(body: Members): Members {
  const entries = Object.entries(body).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(entries);
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Why connecting a service failed: a code of OAuth or of this software, and a readable text. */
export type OAuthFailure = { error: string; description: string };

const MAX_DESCRIPTION_CHARS = 300;

/** The characters that RFC 6749 allows in an error code. */
const ERROR_CODE = /^[\u0020-\u0021\u0023-\u005b\u005d-\u007e]{1,100}$/;

/** Converts a provider's error, which may contain anything, to a form that is safe to store and show. */
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

/** Reads a body as text; returns null when it is longer than `maxBytes`. */
export async function readText(response: Response, maxBytes: number): Promise<string | null> {
  const bytes = await readLimited(response.body, maxBytes);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}
