import { matchedRoutes } from "hono/route";
import { isUuid } from "../lib/uuid.ts";
import type { AppContext } from "./app-types.ts";

/** The state of an OAuth attempt is named like an id, and as good as a key. */
const SECRET_IDS = new Set(["auth_id"]);

/**
 * What a log may tell of where a request went: `route`, the pattern of its route, null when it met none,
 * and the ids in its path by their names; `http.app` where a project's own app answered. The path itself stays out, because links that work without a key have their token
 * there, and so has whatever a client sends to an address that is none.
 */
export function loggedRoute(c: AppContext): Record<string, string | null> {
  if (c.get("isOfApp")) return { route: "http.app" };
  const route = matchedRoutes(c).find(({ method, path }) => method !== "ALL" && path !== "*")?.path;
  if (route === undefined) return { route: null };
  const segments = c.req.path.split("/");
  const ids = route.split("/").flatMap((part, index): [string, string][] => {
    const name = part.startsWith(":") ? part.slice(1) : "";
    const value = segments[index] ?? "";
    return name.endsWith("_id") && !SECRET_IDS.has(name) && isUuid(value) ? [[name, value]] : [];
  });
  return { route, ...Object.fromEntries(ids) };
}
