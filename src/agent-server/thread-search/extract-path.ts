import { isObject } from "../../lib/json.ts";

export const EXTRACT_ROOTS = ["values", "metadata", "config", "interrupts"] as const;

type ExtractRoot = (typeof EXTRACT_ROOTS)[number];

export type ExtractPath = { root: ExtractRoot; steps: (string | number)[] };

const STEP = /^(?:\.([^.[\]]+)|\[(-?\d{1,9})\])/;

/** Parses `values.messages[-1].content`; null when the text is not a path, or has no known root. */
export function parseExtractPath(text: string): ExtractPath | null {
  const root = EXTRACT_ROOTS.find((name) => name === /^[a-z]+/.exec(text)?.[0]);
  if (root === undefined) return null;
  const steps: ExtractPath["steps"] = [];
  let rest = text.slice(root.length);
  while (rest !== "") {
    const match = STEP.exec(rest);
    if (match === null) return null;
    const [whole, key, index] = match;
    steps.push(key ?? Number(index));
    rest = rest.slice(whole.length);
  }
  return { root, steps };
}

/** The value at the end of the steps, or null where there is none. -1 is an array's last element. */
export function followPath(start: unknown, steps: ExtractPath["steps"]): unknown {
  let value = start;
  for (const step of steps) {
    if (typeof step === "number") {
      value = Array.isArray(value) ? value.at(step) : undefined;
    } else {
      value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    }
  }
  return value ?? null;
}
