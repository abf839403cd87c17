import type { HeaderChoice } from "../../graph-runtime/http-info.ts";
import type { HeaderLine } from "../../graph-runtime/protocol.ts";

/**
 * Returns the values of the chosen headers, keyed by their names in lower case. An exclusion overrides any
 * inclusion.
 */
export function chooseHeaders(
  headers: readonly HeaderLine[],
  { includes, excludes }: HeaderChoice,
): Record<string, string> {
  const isAny = (patterns: string[], name: string): boolean =>
    patterns.some((pattern) => matchesName(pattern.toLowerCase(), name));
  const found = headers
    .map(({ name, value }): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => isAny(includes, name) && !isAny(excludes, name));
  return Object.fromEntries(found);
}

/**
 * Matches each part between two stars at its first occurrence, so that the time is bounded by the lengths of the
 * texts.
 */
function matchesName(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
