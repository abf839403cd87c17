const MAX_CHARS = 100;
const FALLBACK = "app";
const VALID_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;

export const NAME_VARIABLE = "LANGSMITH_DEPLOYMENT_NAME";

/**
 * Returns the text itself when it is a valid deployment name, or else a similar name of lower-case letters,
 * digits and hyphens.
 */
export function deploymentName(text: string): string {
  if (VALID_NAME.test(text)) return text;
  const words = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "");
  const name = /^[a-z]/.test(words) ? words : `${FALLBACK}-${words}`;
  return name.slice(0, MAX_CHARS).replace(/-+$/, "");
}
