import { isObject, memberOf } from "../../lib/json.ts";
import type { OAuthProviderType } from "../../db/oauth-schema.ts";
import { readLimited } from "../../lib/bytes.ts";

/** An answer of a token endpoint: the status, and the JSON of its body, or that it has none. */
export type TokenAnswer = { status: number; body: unknown };

type Members = Record<string, unknown>;

/** What Slack says with status 200 when it is Slack's own fault, or comes too often. */
const SLACK_PASSING_ERRORS: ReadonlySet<unknown> = new Set([
  "fatal_error",
  "internal_error",
  "ratelimited",
  "request_timeout",
  "service_unavailable",
]);

/**
 * The answer as RFC 6749 would have it, whatever this provider's own form is.
 *
 * The ID token of OpenID Connect is left out: who is to have issued it is not known of a provider that
 * is described by its endpoints alone, so it could not be checked, and nothing here needs it.
 */
export function standardAnswer(
  { status, body }: TokenAnswer,
  type: OAuthProviderType | null,
): TokenAnswer {
  if (!isObject(body)) return { status, body };
  const members = told(type === "slack" ? fromSlack(body) : body);
  delete members["id_token"];
  // Some say "error" with status 200.
  const isError = status === 200 && members["error"] !== undefined && !("access_token" in members);
  if (isError) return { status: statusOfError(members["error"], type), body: members };
  if ("access_token" in members) members["token_type"] ??= "bearer";
  if (Array.isArray(members["scope"])) members["scope"] = members["scope"].join(" ");
  return { status, body: members };
}

/** Who the account belongs to, in words for people; null when the answer does not tell. */
export function accountLabel(body: unknown, type: OAuthProviderType | null): string | null {
  return type === "slack" ? text(memberOf(memberOf(body, "team"), "name")) : null;
}

/** What a client needs beside the token, such as the address of the user's own server. */
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

/** The user's token, not the bot's. It is a member of its own, but in the answer to a refresh. */
function fromSlack(body: Members): Members {
  const user = memberOf(body, "authed_user");
  const own = isObject(user) && "access_token" in user ? { ...body, ...user } : body;
  // Slack says whose token it is: "user".
  return body["ok"] === false ? { error: body["error"] } : { ...own, token_type: "bearer" };
}

function statusOfError(error: unknown, type: OAuthProviderType | null): number {
  return type === "slack" && SLACK_PASSING_ERRORS.has(error) ? 503 : 400;
}

/** Leaves out the members that say nothing: GitHub's apps have an empty `scope`, others null. */
function told(body: Members): Members {
  const entries = Object.entries(body).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(entries);
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

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

/** A body as text; null when it is longer than `maxBytes`. */
export async function readText(response: Response, maxBytes: number): Promise<string | null> {
  const bytes = await readLimited(response.body, maxBytes);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}
