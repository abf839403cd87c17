import { isUuid } from "../../lib/uuid.ts";

/** With a suffix and a hyphen, a slug has 59 of the 63 characters allowed in a label of a host name. */
const MAX_SLUG_CHARS = 50;
const SUFFIX_CHARS = 8;

/**
 * Returns the deployment's name in its URL. It includes a part of the id when `suffix` is set because the name's
 * slug is taken, or when the name reads like an id.
 */
export function slugOf(name: string, id: string, { suffix }: { suffix: boolean }): string {
  const slug = name.toLowerCase().replaceAll("_", "-").slice(0, MAX_SLUG_CHARS).replace(/-+$/, "");
  return suffix || isUuid(slug) ? `${slug}-${id.slice(0, SUFFIX_CHARS)}` : slug;
}
