import type { AppContext } from "./app-types.ts";

export type Page = { limit: number; offset: number };

/**
 * Sets the headers of a page. `total` is the number of all matching rows, and `returned` of those on this page.
 */
export function setPaginationHeaders(
  c: AppContext,
  page: Page,
  counts: { total: number; returned: number },
): void {
  c.header("x-pagination-total", String(counts.total));
  const next = page.offset + counts.returned;
  if (counts.returned > 0 && next < counts.total) c.header("x-pagination-next", String(next));
}
