import { readFileSync } from "node:fs";

/** A block of code in a document, and its documented output, or null if there is none. */
export type DocumentedBlock = { code: string; printed: string | null };

/** Returns the JavaScript blocks of a Markdown file, in their order. */
export function documentedBlocks(path: string): DocumentedBlock[] {
  const text = readFileSync(path, "utf8");
  const blocks = text.matchAll(/```js\n([\s\S]*?)```(?:\n\n```text\n([\s\S]*?)\n```)?/g);
  return Array.from(blocks, ([, code = "", printed = null]) => ({ code, printed }));
}

/** Returns a pattern for a block's output, in which `…` matches anything on a line. */
export function printedPattern(printed: string): RegExp {
  const literal = printed
    .split("…")
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${literal.join(".+")}$`);
}
