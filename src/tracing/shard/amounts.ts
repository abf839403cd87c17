import type { RunAmounts } from "../usage/costs.ts";
import type { Usage } from "../model/run-write.ts";
import {
  AMOUNT_COLUMNS,
  type AmountColumns,
  NO_AMOUNTS,
  type TracedRunRow,
} from "../model/run-row.ts";

const TOKEN_COLUMNS = ["prompt_tokens", "completion_tokens", "total_tokens"] as const;
const COST_COLUMNS = ["prompt_cost", "completion_cost", "total_cost"] as const;
const DETAILS_COLUMNS = [
  "prompt_token_details",
  "completion_token_details",
  "prompt_cost_details",
  "completion_cost_details",
] as const;

export function toColumns(amounts: RunAmounts): AmountColumns {
  return {
    prompt_tokens: amounts.promptTokens,
    completion_tokens: amounts.completionTokens,
    total_tokens: amounts.totalTokens,
    prompt_cost: amounts.promptCost,
    completion_cost: amounts.completionCost,
    total_cost: amounts.totalCost,
    prompt_token_details: jsonOrNull(amounts.promptTokenDetails),
    completion_token_details: jsonOrNull(amounts.completionTokenDetails),
    prompt_cost_details: jsonOrNull(amounts.promptCostDetails),
    completion_cost_details: jsonOrNull(amounts.completionCostDetails),
  };
}

/** Sums amounts. A column is null only if it is null in all of them; maps are added key by key. */
export function sumAmounts(all: readonly AmountColumns[]): AmountColumns {
  const sum: AmountColumns = { ...NO_AMOUNTS };
  for (const one of all) {
    for (const column of TOKEN_COLUMNS) sum[column] = capped(sum[column] + one[column]);
    for (const column of COST_COLUMNS) sum[column] = addCost(sum[column], one[column]);
    for (const column of DETAILS_COLUMNS) sum[column] = addDetails(sum[column], one[column]);
  }
  return sum;
}

export function sameAmounts(left: AmountColumns, right: AmountColumns): boolean {
  return AMOUNT_COLUMNS.every((column) => left[column] === right[column]);
}

/** Returns what a parent counts of a child: all of it, or nothing if it has neither tokens nor a cost. */
export function countedAmounts(amounts: AmountColumns): AmountColumns {
  return amounts.total_tokens > 0 || amounts.total_cost !== null ? amounts : NO_AMOUNTS;
}

/**
 * Returns a sum after one of its parts has changed. Returns null if only all parts tell what it is: if the last
 * part with a cost may have lost it, if details changed, and beyond the range of exact numbers.
 */
export function withChange(
  sum: AmountColumns,
  before: AmountColumns,
  after: AmountColumns,
): AmountColumns | null {
  const changed = { ...sum };
  for (const column of TOKEN_COLUMNS) {
    changed[column] = sum[column] - before[column] + after[column];
    if (!isExact(sum[column]) || !isExact(changed[column])) return null;
  }
  for (const column of COST_COLUMNS) {
    const [from, to] = [before[column], after[column]];
    if (to === null && from !== null) return null;
    if (to === null) continue;
    const total = addCost(sum[column], to - (from ?? 0)) ?? 0;
    if (!isExact(sum[column] ?? 0) || !isExact(total)) return null;
    changed[column] = total;
  }
  for (const column of DETAILS_COLUMNS) {
    const [from, to] = [before[column], after[column]];
    if (from === to) continue;
    if (from !== null) return null;
    changed[column] = addDetails(sum[column], to);
  }
  return changed;
}

function isExact(value: number): boolean {
  return value < Number.MAX_SAFE_INTEGER;
}

/** Limits a sum: larger numbers are not exact, and may exceed a column. Only mistakes get so large. */
function capped(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

function addCost(left: number | null, right: number | null): number | null {
  return left === null ? right : right === null ? left : capped(left + right);
}

function addDetails(left: string | null, right: string | null): string | null {
  if (left === null || right === null) return left ?? right;
  const sum = new Map(Object.entries(JSON.parse(left) as Record<string, number>));
  for (const [key, value] of Object.entries(JSON.parse(right) as Record<string, number>)) {
    sum.set(key, capped((sum.get(key) ?? 0) + value));
  }
  return JSON.stringify(Object.fromEntries(sum));
}

function jsonOrNull(details: Record<string, number> | null): string | null {
  return details === null ? null : JSON.stringify(details);
}

/** What a run consumed itself, and the usage from which this was computed. */
export type OwnAmounts = { usage: Usage; amounts: AmountColumns | null };

/** Returns the totals of a run: for an LLM run its own usage, otherwise its own and that of all children. */
export function totalsOf(
  run: Pick<TracedRunRow, "run_type" | "own_amounts">,
  children: readonly AmountColumns[],
): AmountColumns {
  const own = run.own_amounts === null ? null : (JSON.parse(run.own_amounts) as OwnAmounts).amounts;
  // A model wrapped by a model reports the same tokens twice; the outer report counts.
  if (own !== null && run.run_type === "llm") return own;
  return sumAmounts(own === null ? children : [own, ...children]);
}
