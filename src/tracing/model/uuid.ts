import { isUuid } from "../../lib/uuid.ts";

const BARE = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i;

/** A UUID of any version, dashed or 32 digits, in lower case with dashes; null for anything else. */
export function parseUuid(text: string): string | null {
  if (isUuid(text)) return text.toLowerCase();
  return BARE.test(text) ? text.toLowerCase().replace(BARE, "$1-$2-$3-$4-$5") : null;
}
