import type { AuthenticationRequest } from "../../graph-runtime/protocol.ts";
import { holdsApiKey } from "../../identity/api-key.ts";

/**
 * Returns the request without the platform's API keys. SDKs send them automatically, and the project's code must
 * not see its callers' keys.
 */
export function shownRequest({ method, url, headers }: Request): AuthenticationRequest {
  const lines = Array.from(headers, ([name, value]) => {
    // Only the cookie that contains a key is removed; the others are kept.
    const parts = name === "cookie" ? value.split(";") : [value];
    return {
      name,
      value: parts
        .filter((part) => !holdsApiKey(part))
        .join(";")
        .trim(),
    };
  });
  const asked = new URL(url);
  const held = [...asked.searchParams].filter(([, value]) => holdsApiKey(value));
  for (const [name] of held) asked.searchParams.delete(name);
  return { method, url: asked.href, headers: lines.filter(({ value }) => value !== "") };
}
