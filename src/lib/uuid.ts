/** The dashed form of a UUID, in upper or lower case, as the source of a regular expression. */
export const UUID_PATTERN =
  "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";

const WHOLE = new RegExp(`^${UUID_PATTERN}$`);

/** Whether a whole text is a dashed UUID of any version, in upper or lower case. */
export function isUuid(text: string): boolean {
  return WHOLE.test(text);
}

const BARE = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i;

/**
 * Reads a UUID of any version, dashed or as 32 digits, and returns it dashed in lower case; null for anything
 * else.
 */
export function parseUuid(text: string): string | null {
  if (isUuid(text)) return text.toLowerCase();
  return BARE.test(text) ? text.toLowerCase().replace(BARE, "$1-$2-$3-$4-$5") : null;
}
