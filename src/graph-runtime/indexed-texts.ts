/**
 * The texts that a path finds in an item's value, for an index. `$` is the whole value; else the path names members,
 * separated by dots: `a.b`, `list[0]`, `list[-1]`, `list[*].c` and `*` for each one, `{a,b.c}` for several.
 */
export function textsAt(value: unknown, path: string): string[] {
  return path === "$" ? textOf(value) : followed(value, stepsOf(path));
}

/** `a[0].{b,c}` are the steps `a`, `[0]` and `{b,c}`. */
function stepsOf(path: string): string[] {
  return path.match(/\[[^\]]*\]|\{[^}]*\}|[^.[{]+/g) ?? [];
}

function followed(value: unknown, steps: readonly string[]): string[] {
  const [step, ...rest] = steps;
  if (step === undefined) return textOf(value);
  return reached(value, step).flatMap((inner) => followed(inner, rest));
}

/** What one step leads to. */
function reached(value: unknown, step: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (step === "*") return Object.values(value);
  if (step.startsWith("{")) {
    const paths = step.slice(1, -1).split(",");
    return paths.flatMap((path) => followed(value, stepsOf(path.trim())));
  }
  if (step.startsWith("[")) {
    if (!Array.isArray(value)) return [];
    if (step === "[*]") return value;
    const index = /^\[-?\d+\]$/.test(step) ? Number(step.slice(1, -1)) : value.length;
    return [value.at(index)];
  }
  return Object.hasOwn(value, step) ? [Reflect.get(value, step)] : [];
}

function textOf(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  return [typeof value === "string" ? value : JSON.stringify(value)];
}
