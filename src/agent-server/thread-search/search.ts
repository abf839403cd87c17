import { type ScannedRow, toReads } from "../../db/bounded-scan.ts";
import {
  countThreads,
  findThreads,
  type FoundThread,
  readThreads,
  type ThreadFilter,
} from "../../db/threads-repo.ts";
import type { Page } from "../../http/pagination.ts";
import { jsonList, type JsonText } from "../../lib/json-answer.ts";
import type { Scope } from "../../lib/scope.ts";
import type { Access } from "../auth/authorize.ts";
import { threadSeenBy } from "../threads/thread-stub.ts";
import { type Thread, toThreadJson } from "../threads/contract/thread-json.ts";
import { THREAD_FIELDS, type ThreadField, type ThreadSearch } from "./schemas.ts";
import { type ExtractPath, followPath } from "./extract-path.ts";
import { threadDatabase } from "../threads/index/thread-databases.ts";

type IndexedThread = Partial<Thread> & { extracted?: Record<string, unknown> };

/** A page of `returned` threads as JSON text. */
export type SearchResult = { threads: JsonText; returned: number; total: number; page: Page };

/** Returns a page of the matching threads; null if too many threads would have to be examined. */
export async function searchIndex(
  env: Env,
  scope: Scope,
  search: ThreadSearch,
  access: Access,
): Promise<SearchResult | null> {
  const page = { limit: search.limit ?? 10, offset: search.offset ?? 0 };
  const filter = {
    ...toFilter(search, access),
    // The SDK sends an empty list if it wants no filter.
    ids: search.ids && search.ids.length > 0 ? search.ids : undefined,
  };
  const fields = selectedFields(search.select ?? null);
  const extract = search.extract ?? {};
  const needed = new Set<string>([...fields, ...Object.values(extract).map(({ root }) => root)]);
  const withValues = needed.has("values");
  const database = threadDatabase(env, scope);
  const found = await findThreads(database, scope, {
    filter,
    order: { by: search.sort_by ?? "updated_at", direction: search.sort_order ?? "desc" },
    ...page,
    withValues,
  });
  if (found === null) return null;
  const texts = threadTexts(found.page, {
    read: (ids) => readThreads(database, scope, ids, { withValues }),
    complete: (row) =>
      isMissing(row, needed) ? askThread(env, scope, row, access) : fromIndex(row),
    project: (thread) => project(thread, fields, extract),
  });
  return {
    threads: await jsonList(texts),
    returned: found.page.length,
    total: found.total,
    page,
  };
}

/** Returns the number of matching threads; null if too many threads would have to be examined. */
export async function countIndex(
  env: Env,
  scope: Scope,
  search: Pick<ThreadSearch, "metadata" | "values" | "status">,
  access: Access,
): Promise<number | null> {
  return countThreads(threadDatabase(env, scope), scope, toFilter(search, access));
}

/** Yields the threads of a page in their order. They are read in parts, and large ones one at a time. */
async function* threadTexts(
  page: readonly ScannedRow[],
  thread: {
    read: (ids: string[]) => Promise<FoundThread[]>;
    complete: (row: FoundThread) => Promise<Thread> | Thread;
    project: (thread: Thread) => IndexedThread;
  },
): AsyncGenerator<string> {
  for (const part of toReads(page)) {
    const ids = part.map(({ key }) => String(key));
    const rows = new Map((await thread.read(ids)).map((row) => [row.thread_id, row]));
    for (const id of ids) {
      const row = rows.get(id);
      // A thread that was deleted in the meantime is left out.
      if (row !== undefined) yield JSON.stringify(thread.project(await thread.complete(row)));
    }
  }
}

function toFilter(
  search: Pick<ThreadSearch, "metadata" | "values" | "status">,
  access: Access,
): ThreadFilter {
  return {
    access: access.filter,
    status: search.status ?? undefined,
    metadata: search.metadata ?? undefined,
    values: search.values ?? undefined,
  };
}

function selectedFields(select: readonly string[] | null): ThreadField[] {
  return THREAD_FIELDS.filter((field) => select === null || select.includes(field));
}

/** Whether the index omits a field that the answer needs. */
function isMissing(row: FoundThread, needed: ReadonlySet<string>): boolean {
  if (row.omitted === "none") return false;
  if (row.omitted === "values") return needed.has("values");
  return ["metadata", "config", "values", "interrupts", "error"].some((field) => needed.has(field));
}

/**
 * Reads the thread from its object, which has the fields that the index omits. If the thread was deleted since the
 * index was written, the index row is returned.
 */
async function askThread(
  env: Env,
  scope: Scope,
  row: FoundThread,
  { filter }: Access,
): Promise<Thread> {
  const thread = await threadSeenBy(filter, env, scope, row.thread_id).get();
  return thread === null ? fromIndex(row) : { ...thread };
}

function fromIndex(row: FoundThread): Thread {
  return toThreadJson(row, row.state_values);
}

function project(
  thread: Thread,
  fields: readonly ThreadField[],
  extract: Record<string, ExtractPath>,
): IndexedThread {
  const projected: IndexedThread = Object.fromEntries(
    fields.map((field) => [field, thread[field]]),
  );
  const paths = Object.entries(extract);
  if (paths.length === 0) return projected;
  const extracted = Object.fromEntries(
    paths.map(([alias, { root, steps }]) => [alias, followPath(thread[root], steps)]),
  );
  return { ...projected, extracted };
}
