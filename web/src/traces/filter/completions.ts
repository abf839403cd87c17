import { CONDITIONS, FIELDS, FUNCTIONS } from "./fields.ts";

/** The values that runs of the project have, by field; those of metadata by key. */
export type KnownValues = {
  fields: Readonly<Record<string, readonly string[]>>;
  metadata: Readonly<Record<string, readonly string[]>>;
};

export type Completion = { label: string; hint: string; insert: string };

/** The completions that can replace the text between `from` and `to`. */
export type Completions = { from: number; to: number; options: Completion[] };

const MOST = 12;

type Call = { name: string; argument: number; field: string };

type Place = { call: Call | undefined; from: number; isText: boolean };

/**
 * Parses a filter up to the caret: returns the call that contains it, and the start of the word or string at
 * the caret.
 */
function placeOf(before: string): Place {
  const calls: Call[] = [];
  const pattern = /"(?:[^"\\]|\\.)*(?:"|$)|'(?:[^'\\]|\\.)*(?:'|$)|[\w.-]+|[(),]/g;
  let from = before.length;
  let isText = false;
  let word = "";
  for (const match of before.matchAll(pattern)) {
    const [token] = match;
    const call = calls.at(-1);
    const isQuoted = token.startsWith('"') || token.startsWith("'");
    const isOpen = isQuoted && (token.length === 1 || !token.endsWith(token.charAt(0)));
    const reachesCaret = match.index + token.length === before.length;
    if (token === "(") calls.push({ name: word, argument: 0, field: "" });
    else if (token === ")") calls.pop();
    else if (token === ",") {
      if (call !== undefined) call.argument += 1;
    } else if (call !== undefined && call.argument === 0)
      call.field = token.replaceAll(/["']/g, "");
    isText = isOpen && reachesCaret;
    from = isText || (reachesCaret && /^[\w.-]/.test(token)) ? match.index : before.length;
    word = token;
  }
  return { call: calls.at(-1), from, isText };
}

export function completionsAt(text: string, caret: number, known: KnownValues): Completions {
  const before = text.slice(0, caret);
  const { call, from, isText } = placeOf(before);
  const typed = before.slice(from).replace(/^["']/, "").toLowerCase();
  // The completion includes the closing quote, so an existing one is replaced.
  const to = isText && text.charAt(caret) === before.charAt(from) ? caret + 1 : caret;
  const isCondition = call === undefined || CONDITIONS.some((name) => name === call.name);
  const options = isCondition
    ? functionOptions()
    : call.argument === 0
      ? fieldOptions(call.name)
      : valueOptions(call, text, known);
  const fitting = options.filter(({ label }) => label.toLowerCase().includes(typed));
  const exact = fitting.length === 1 && fitting[0]?.label.toLowerCase() === typed;
  // A complete filter needs no completions.
  const isDone = call === undefined && before.trim() !== "" && from === before.length;
  return { from, to, options: exact || isDone ? [] : fitting.slice(0, MOST) };
}

function functionOptions(): Completion[] {
  return Object.entries(FUNCTIONS).map(([name, hint]) => ({
    label: name,
    hint,
    insert: `${name}(`,
  }));
}

function fieldOptions(name: string): Completion[] {
  return Object.entries(FIELDS)
    .filter(([, { functions }]) => functions.includes(name))
    .map(([field]) => ({ label: field, hint: "field", insert: `${field}, ` }));
}

function valueOptions({ name, field }: Call, text: string, known: KnownValues): Completion[] {
  const key = /metadata_key\s*,\s*"([^"]+)"/.exec(text)?.[1] ?? "";
  const found =
    name === "exists" || (field === "metadata" && name === "has")
      ? []
      : field === "metadata_value"
        ? (known.metadata[key] ?? [])
        : (known.fields[field] ?? []);
  const values = [...(FIELDS[field]?.values ?? []), ...found.map((value) => JSON.stringify(value))];
  const end = name === "in" ? "" : ")";
  return [...new Set(values)].map((value) => ({
    label: value.replaceAll(/^"|"$/g, ""),
    hint: field,
    insert: value + end,
  }));
}
