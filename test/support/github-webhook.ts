import { createHmac } from "node:crypto";
import { toAnswer } from "./http.ts";

/** Changes of an event in comparison to GitHub's. */
export type EventChange = {
  secret?: string;
  event?: string;
  /** A signature to send in place of the right one; null sends none. */
  signature?: string | null;
  form?: boolean;
};

/** Sends an event as GitHub does, with a signature of the sent bytes. A text is sent unchanged. */
export async function sendEvent(
  url: string,
  payload: object | string,
  { secret = PUSH_SECRET_VALUE, event = "push", signature, form = false }: EventChange = {},
): Promise<{ status: number; body: unknown }> {
  const json = typeof payload === "string" ? payload : JSON.stringify(payload);
  const body = form ? new URLSearchParams({ payload: json }).toString() : json;
  const signed = signature === undefined ? signatureOf(secret, body) : signature;
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: {
      "content-type": form ? "application/x-www-form-urlencoded" : "application/json",
      "user-agent": "GitHub-Hookshot/044aadd",
      "x-github-delivery": crypto.randomUUID(),
      "x-github-event": event,
      ...(signed === null ? {} : { "x-hub-signature-256": signed }),
    },
  });
  const { status, body: answer } = await toAnswer(response);
  return { status, body: answer };
}

/** A secret of the minimum length at least. */
export const PUSH_SECRET_VALUE = "a secret that GitHub knows";

export const PUSH_SECRETS = [
  { name: "THREADWORKS_GITHUB_WEBHOOK_SECRET", value: PUSH_SECRET_VALUE },
];

export function signatureOf(secret: string, body: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/** Returns the event of the deletion of a branch or a tag. */
export function deletionOf(
  repository: string,
  branch: string,
  { pushedAt = 2_000, type = "branch" } = {},
): Record<string, unknown> {
  const { repository: about } = pushOf(repository, "0".repeat(40));
  // This event has its times as texts.
  const pushed_at = new Date(pushedAt * 1000).toISOString();
  return { ref: branch, ref_type: type, repository: { ...about, pushed_at } };
}

/** Returns the event of a push to a branch, with the members of GitHub's that matter. */
export function pushOf(
  repository: string,
  after: string,
  { ref = "refs/heads/main", pushedAt = 1_000, deleted = false } = {},
): Record<string, unknown> & { repository: Record<string, unknown> } {
  return {
    ref,
    before: "0".repeat(40),
    after,
    created: false,
    deleted,
    forced: false,
    commits: [{ id: after, message: "Größer" }],
    head_commit: { id: after },
    pusher: { name: "octocat" },
    repository: {
      id: 1,
      full_name: repository,
      default_branch: "main",
      pushed_at: pushedAt,
      private: false,
    },
    sender: { login: "octocat" },
  };
}
