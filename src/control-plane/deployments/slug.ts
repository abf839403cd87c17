import { isUuid } from "../../lib/uuid.ts";

/** With a suffix and a hyphen it has 59 of the 63 characters that a label of a host name may have. */
const MAX_SLUG_CHARS = 50;
const SUFFIX_CHARS = 8;

/**
 * What names a deployment in its URL; with a part of its id where `name` alone is not enough: another
 * one has it, or it reads like an id.
 */
export function slugOf(name: string, id: string, { suffix }: { suffix: boolean }): string {
  const slug = name.toLowerCase().replaceAll("_", "-").slice(0, MAX_SLUG_CHARS).replace(/-+$/, "");
  return suffix || isUuid(slug) ? `${slug}-${id.slice(0, SUFFIX_CHARS)}` : slug;
}
