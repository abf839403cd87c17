import type { FuzzAnswer } from "./answers.ts";
import type { KnownIds } from "./values.ts";

const MAX_KEPT = 20;
const MAX_ID_CHARS = 400;

/** Ids for requests: the initial ones, and those from answers. */
export class PathIdPool {
  readonly #ids = new Map<string, string[]>();

  constructor(ids: Record<string, string>) {
    for (const [name, id] of Object.entries(ids)) this.#ids.set(name, [id]);
  }

  known(): KnownIds {
    return this.#ids;
  }

  /** Adds the members of an answer that are named like ids; `id` belongs to the resource in the path. */
  learn(path: string, { status, text }: FuzzAnswer): void {
    if (status >= 300 || !text.startsWith("{")) return;
    let json: Record<string, unknown>;
    try {
      json = JSON.parse(text);
    } catch {
      return;
    }
    for (const [name, value] of Object.entries(json)) {
      if (typeof value !== "string" || value === "" || value.length > MAX_ID_CHARS) continue;
      if (name === "id") this.#keep(nameIn(path), value);
      else if (/_(id|path|token)$/.test(name)) this.#keep(name, value);
    }
  }

  #keep(name: string, id: string): void {
    const ids = this.#ids.get(name) ?? [];
    if (ids.includes(id)) return;
    // The initial id stays, as most operations can work with it.
    if (ids.length === MAX_KEPT) ids.splice(1, 1);
    this.#ids.set(name, [...ids, id]);
  }
}

/** Returns the name of the path parameter for the `id` in an answer from this path. */
function nameIn(path: string): string {
  const [, resource = ""] = /\/([\w-]+)(?:\/\{\w+\})?$/.exec(path) ?? [];
  const names: Record<string, string> = {
    sessions: "session_id",
    feedback: "feedback_id",
    destinations: "destination_id",
    "bulk-exports": "bulk_export_id",
    deployments: "deployment_id",
    revisions: "revision_id",
    runs: "run_id",
  };
  return names[resource] ?? "id";
}
