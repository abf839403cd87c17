import { z } from "zod";
import { parseJson } from "../../http/json-text.ts";
import { toValidationDetail } from "../../http/validation-detail.ts";
import { ApiError } from "../../lib/api-error.ts";

/** The parts of GitHub's push event that are read here. */
export type Push = {
  /** The full name of the branch or tag, such as `refs/heads/main`. */
  ref: string;
  /** The commit that the branch points to after the push. */
  commit: string;
  isDeletion: boolean;
  /** `owner/name`. */
  repository: string;
  defaultBranch: string;
  /**
   * Seconds since the epoch. Unlike a delivery's id, it is part of the signed body, so it can order two pushes.
   */
  pushedAt: number;
};

/** A branch that was deleted. */
export type BranchDeletion = Pick<Push, "ref" | "repository" | "defaultBranch" | "pushedAt">;

const FORM = "application/x-www-form-urlencoded";

const MAX_NAME_CHARS = 512;
const text = z.string().min(1).max(MAX_NAME_CHARS);

const repository = z.object({
  full_name: text,
  default_branch: text,
  pushed_at: z.union([
    z.number(),
    z.iso.datetime({ offset: true }).transform((time) => Date.parse(time) / 1000),
  ]),
});

const pushSchema = z.object({
  ref: text,
  after: z.string().regex(/^[0-9a-f]{40}$/, "String should be a commit"),
  deleted: z.boolean(),
  repository,
});

const deletionSchema = z.object({ ref: text, ref_type: text, repository });

/**
 * Reads a push event, which GitHub sends as JSON, or as JSON in a form field. Throws a 400 or a 422 for anything
 * else.
 */
export function readPush(body: Uint8Array, contentType: string): Push {
  const { ref, after, deleted, repository } = read(pushSchema, body, contentType);
  return {
    ref,
    commit: after,
    isDeletion: deleted,
    repository: repository.full_name,
    defaultBranch: repository.default_branch,
    pushedAt: repository.pushed_at,
  };
}

/** Reads a `delete` event; returns null for a tag. Throws the same errors as `readPush`. */
export function readDeletion(body: Uint8Array, contentType: string): BranchDeletion | null {
  const { ref, ref_type, repository } = read(deletionSchema, body, contentType);
  if (ref_type !== "branch") return null;
  return {
    ref: `refs/heads/${ref}`,
    repository: repository.full_name,
    defaultBranch: repository.default_branch,
    pushedAt: repository.pushed_at,
  };
}

function read<T>(schema: z.ZodType<T>, body: Uint8Array, contentType: string): T {
  const json = contentType.toLowerCase().startsWith(FORM) ? payloadOf(body) : body;
  const value = parseJson(json);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const detail = toValidationDetail("body", parsed.error.issues, value);
  throw new ApiError("validation", "The event cannot be read", { detail });
}

function payloadOf(body: Uint8Array): Uint8Array {
  const form = new URLSearchParams(new TextDecoder().decode(body));
  return new TextEncoder().encode(form.get("payload") ?? "");
}

/**
 * Whether there is a revision of this push or of a later one. GitHub repeats events and sends them in any order,
 * and a branch may also return to a commit that was built before. `latest` is the commit of the latest revision.
 */
export function isBuilt(
  { commit, pushedAt }: Push,
  latest: string | null,
  last: { commit: string; pushed_at: number } | undefined,
): boolean {
  if (commit === latest) return true;
  if (last === undefined || pushedAt > last.pushed_at) return false;
  return pushedAt < last.pushed_at || commit === last.commit;
}
