export const ROOT = "0198c0de-0000-7000-8000-000000000001";
export const CHILD = "0198c0de-0000-7000-8000-00000000000a";
export const OTHER = "0198c0de-0000-7000-8000-0000000000ff";

/** 2026-08-01T12:00:00.000001Z. */
export const START = 1_785_585_600_000_001;

export const ROOT_ORDER = `20260801T120000000001Z${ROOT}`;
export const CHILD_ORDER = `${ROOT_ORDER}.20260801T120000000002Z${CHILD}`;

function orderOf(id: string): string {
  return `20260801T120000000001Z${id}`;
}

/** Returns the minimal body of a create, as clients send it. */
export function rootRun(id = ROOT, more: Record<string, unknown> = {}): Record<string, unknown> {
  const dotted_order = orderOf(id);
  return { id, trace_id: id, dotted_order, name: "agent", run_type: "chain", ...more };
}
