import { type Found, toReads } from "../../db/bounded-scan.ts";
import {
  countThreads,
  findThreads,
  type FoundThread,
  readThreads,
  type ThreadFilter,
} from "../../db/threads-repo.ts";
import type { Page } from "../../http/pagination.ts";
import type { Scope } from "../../lib/scope.ts";
import type { Access } from "../auth/authorize.ts";
import { threadStub } from "../threads/thread-stub.ts";
import type { Thread } from "../threads/wire.ts";
import { type ExtractPath, followPath } from "./extract-path.ts";
import { THREAD_FIELDS, type ThreadField, type ThreadSearch } from "./schemas.ts";

/** Of the JSON texts on one page together: it is held in memory. */
export const MAX_PAGE_CHARS = 16 * 1024 * 1024;

/** A Worker has six connections; one stays free for the rest of the request. */
const HYDRATION_CONCURRENCY = 5;

type IndexedThread = Partial<Thread> & { extracted?: Record<string, unknown> };

export type SearchResult =
  | { ok: true; threads: IndexedThread[]; total: number; page: Page }
  | { ok: false; code: "page_too_large" | "too_many_threads" };

export async function searchIndex(
  env: Env,
  scope: Scope,
  search: ThreadSearch,
  access: Access,
): Promise<SearchResult> {
  const page = { limit: search.limit ?? 10, offset: search.offset ?? 0 };
  const filter = {
    ...toFilter(search, access),
    // The SDK's empty list stands for no filter.
    ids: search.ids && search.ids.length > 0 ? search.ids : undefined,
  };
  const fields = selectedFields(search.select ?? null);
  const extract = search.extract ?? {};
  const needed = new Set<string>([...fields, ...Object.values(extract).map(({ root }) => root)]);
  const withValues = needed.has("values");
  const found = await findThreads(env.DB, scope, {
    filter,
    order: { by: search.sort_by ?? "updated_at", direction: search.sort_order ?? "desc" },
    ...page,
    withValues,
  });
  if (found === null) return { ok: false, code: "too_many_threads" };
  const rows = await readPage(env.DB, scope, found.page, withValues);
  if (rows === null) return { ok: false, code: "page_too_large" };
  const threads = await mapConcurrently(rows, HYDRATION_CONCURRENCY, async (row) =>
    isMissing(row, needed) ? await hydrate(env, scope, row, access) : toThread(row),
  );
  return {
    ok: true,
    threads: threads.map((thread) => project(thread, fields, extract)),
    total: found.total,
    page,
  };
}

/** Null when too many threads have to be looked at. */
export async function countIndex(
  env: Env,
  scope: Scope,
  search: Pick<ThreadSearch, "metadata" | "values" | "status">,
  access: Access,
): Promise<number | null> {
  return countThreads(env.DB, scope, toFilter(search, access));
}

/** Null when they are too large; only a page of one thread may be. */
async function readPage(
  db: D1Database,
  scope: Scope,
  page: readonly Found[],
  withValues: boolean,
): Promise<FoundThread[] | null> {
  const byId = new Map<string, FoundThread>();
  let chars = 0;
  for (const part of toReads(page)) {
    const ids = part.map(({ key }) => String(key));
    for (const row of await readThreads(db, scope, ids, { withValues })) {
      byId.set(row.thread_id, row);
      chars += row.chars;
    }
    if (chars > MAX_PAGE_CHARS && page.length > 1) return null;
  }
  // A thread that is gone meanwhile is left out.
  return page.flatMap(({ key }) => byId.get(String(key)) ?? []);
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

/** Whether the index left out what the answer needs. */
function isMissing(row: FoundThread, needed: ReadonlySet<string>): boolean {
  if (row.omitted === "none") return false;
  if (row.omitted === "values") return needed.has("values");
  return ["metadata", "config", "values", "interrupts", "error"].some((field) => needed.has(field));
}

/** The thread may have changed, or gone, since the index was written: then the index counts. */
async function hydrate(
  env: Env,
  scope: Scope,
  row: FoundThread,
  { filter }: Access,
): Promise<Thread> {
  const thread = await threadStub(env, scope, row.thread_id).get(filter);
  return thread === null ? toThread(row) : { ...thread };
}

function toThread(row: FoundThread): Thread {
  return {
    thread_id: row.thread_id,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
    state_updated_at: toIso(row.state_updated_at),
    metadata: JSON.parse(row.metadata),
    status: row.status,
    config: JSON.parse(row.config),
    values: row.state_values === null ? null : JSON.parse(row.state_values),
    interrupts: JSON.parse(row.interrupts),
    error: row.error === null ? null : JSON.parse(row.error),
  };
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

async function mapConcurrently<T, R>(
  items: readonly T[],
  concurrency: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  // The workers share one iterator: each takes the next item.
  const work = async () => {
    for (const [index, item] of entries) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work));
  return results;
}

function toIso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
