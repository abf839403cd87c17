import { z } from "zod";
import { parseJson } from "../../http/json-text.ts";
import { toValidationDetail } from "../../http/validation-detail.ts";
import { ApiError } from "../../lib/api-error.ts";

/** A push as GitHub tells of it, as far as it is read here. */
export type Push = {
  /** The whole name of the branch or tag, `refs/heads/main`. */
  ref: string;
  /** What the branch is at now. */
  commit: string;
  isDeletion: boolean;
  /** `owner/name`. */
  repository: string;
  defaultBranch: string;
  /** In seconds. GitHub signs it, unlike the id of a delivery, so it tells which of two pushes is later. */
  pushedAt: number;
};

const FORM = "application/x-www-form-urlencoded";

const MAX_NAME_CHARS = 512;
const text = z.string().min(1).max(MAX_NAME_CHARS);

const pushSchema = z.object({
  ref: text,
  after: z.string().regex(/^[0-9a-f]{40}$/, "String should be a commit"),
  deleted: z.boolean(),
  repository: z.object({
    full_name: text,
    default_branch: text,
    pushed_at: z.union([
      z.number(),
      z.iso.datetime({ offset: true }).transform((time) => Date.parse(time) / 1000),
    ]),
  }),
});

/** GitHub sends its events as JSON, or as JSON in a field of a form. It throws a 400 or a 422 for anything else. */
export function readPush(body: Uint8Array, contentType: string): Push {
  const json = contentType.toLowerCase().startsWith(FORM) ? payloadOf(body) : body;
  const value = parseJson(json);
  const parsed = pushSchema.safeParse(value);
  if (!parsed.success) {
    const detail = toValidationDetail("body", parsed.error.issues, value);
    throw new ApiError("validation", "The push cannot be read", { detail });
  }
  const { ref, after, deleted, repository } = parsed.data;
  return {
    ref,
    commit: after,
    isDeletion: deleted,
    repository: repository.full_name,
    defaultBranch: repository.default_branch,
    pushedAt: repository.pushed_at,
  };
}

function payloadOf(body: Uint8Array): Uint8Array {
  const form = new URLSearchParams(new TextDecoder().decode(body));
  return new TextEncoder().encode(form.get("payload") ?? "");
}
