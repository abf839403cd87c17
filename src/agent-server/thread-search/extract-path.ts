import { isObject } from "../../lib/json.ts";

export const EXTRACT_ROOTS = ["values", "metadata", "config", "interrupts"] as const;

type ExtractRoot = (typeof EXTRACT_ROOTS)[number];

export type ExtractPath = { root: ExtractRoot; steps: (string | number)[] };

const STEP = /^(?:\.([^.[\]]+)|\[(-?\d{1,9})\])/;

/** Parses a path such as `values.messages[-1].content`; returns null if it is malformed or its root is unknown. */
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

/** Returns the value at the end of the steps; null if there is none. The index -1 is an array's last element. */
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
