import { DurableObject } from "cloudflare:workers";
import { LRUCache } from "lru-cache";
import { type AssistantRow, selectAssistant } from "../../db/assistants-repo.ts";
import { timeToLive } from "../../lib/isolate-cache.ts";
import type { Scope } from "../../lib/scope.ts";

const MAX_ENTRIES = 1000;
const MAX_CHARS = 16 * 1024 * 1024;

/**
 * Milliseconds for which a row is kept. Every change removes the row from here before it is answered, so this is
 * only how long a change may stay unseen whose process died between the two.
 */
const TTL_MS = 10_000;

/** A row that is being read has no size yet. */
type Entry = { read: Promise<AssistantRow | null>; chars: number };

/**
 * Keeps the assistants of one scope in memory that runs name, because a read of D1 takes several times as long as a
 * call of an object. A run that begins after a change was answered gets the changed assistant.
 */
export class AssistantCacheObject extends DurableObject<Env> {
  readonly #entries = new LRUCache<string, Entry>({
    max: MAX_ENTRIES,
    maxSize: MAX_CHARS,
    sizeCalculation: ({ chars }) => chars,
    ...timeToLive(TTL_MS),
  });

  /** Returns null if the scope has no such assistant, which is not remembered. */
  async find(scope: Scope, id: string): Promise<AssistantRow | null> {
    const known = this.#entries.get(id);
    if (known !== undefined) return known.read;
    const entry: Entry = { read: this.#read(scope, id), chars: 1 };
    this.#entries.set(id, entry);
    try {
      const row = await entry.read;
      // A change in the meantime has removed the entry, and what was read may be older than the change.
      if (this.#entries.peek(id) === entry) this.#keep(id, entry, row);
      return row;
    } catch (error) {
      if (this.#entries.peek(id) === entry) this.#entries.delete(id);
      throw error;
    }
  }

  /** Must be called after an assistant is changed, created or deleted, before that is answered. */
  async forget(id: string): Promise<void> {
    this.#entries.delete(id);
  }

  async forgetAll(): Promise<void> {
    this.#entries.clear();
  }

  #read(scope: Scope, id: string): Promise<AssistantRow | null> {
    return selectAssistant(this.env.DB, scope, id).first<AssistantRow>();
  }

  #keep(id: string, entry: Entry, row: AssistantRow | null): void {
    if (row === null) this.#entries.delete(id);
    // The age counts from the beginning of the read.
    else this.#entries.set(id, { ...entry, chars: charsOf(row) }, { noUpdateTTL: true });
  }
}

function charsOf({ config, context, metadata, name, description }: AssistantRow): number {
  const texts = [config, context, metadata, name, description ?? ""];
  return 500 + texts.reduce((chars, text) => chars + text.length, 0);
}
