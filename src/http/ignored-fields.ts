import type { MiddlewareHandler } from "hono";
import { log } from "../lib/log.ts";
import type { AppContext, AppEnv } from "./app-types.ts";
import type { UnknownMembers } from "../lib/unknown-members.ts";

export const IGNORED_FIELDS_HEADER = "x-ignored-fields";

const MAX_NAMES = 20;
const MAX_KEY_CHARS = 64;
/** Proxies refuse requests and responses whose headers total 8 kB or more. */
const MAX_HEADER_CHARS = 2000;

/** Stands for the names that are left out. */
const MORE = "...";

/**
 * Records members of a query or a body that have no effect, for a response header. Names of members in a list's
 * items contain `[]` instead of an index, so that each name is reported once.
 */
export function noteIgnored(c: AppContext, ignored: Iterable<UnknownMembers>): void {
  for (const { path, keys } of ignored) {
    const parent = path.map(pathPart).join("");
    for (const key of keys) {
      const names = c.get("ignoredFields") ?? new Set();
      // One name beyond the maximum is kept, which marks that there are more.
      if (names.size > MAX_NAMES) return;
      names.add((parent + pathPart(key)).replace(/^\./, ""));
      c.set("ignoredFields", names);
    }
  }
}

/** Reports the ignored members in a header of every response, and in the log. */
export const sayIgnoredFields: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const names = c.get("ignoredFields");
  if (names === undefined) return;
  const text = headerText(names);
  c.res.headers.set(IGNORED_FIELDS_HEADER, text);
  log(c.var.settings.logLevel, "debug", {
    event: "ignored_fields",
    request_id: c.var.requestId,
    fields: text,
  });
};

function headerText(names: Iterable<string>): string {
  const said: string[] = [];
  let chars = MORE.length;
  for (const name of names) {
    chars += name.length + 2;
    if (said.length === MAX_NAMES || chars > MAX_HEADER_CHARS) return [...said, MORE].join(", ");
    said.push(name);
  }
  return said.join(", ");
}

/** Percent-encodes what the client wrote, so that a name has only characters allowed in a header's list. */
function pathPart(key: PropertyKey): string {
  if (typeof key !== "string") return "[]";
  return `.${encodeURIComponent(key.slice(0, MAX_KEY_CHARS).toWellFormed())}`;
}
