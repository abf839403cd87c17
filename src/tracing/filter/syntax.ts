import { FilterError, unexpected } from "./filter-error.ts";
import { describeToken, type Punctuation, type Token, tokenize } from "./lexer.ts";

/** A parsed call, before its names and types are checked. `at` is a position in the text, as in tokens. */
export type FunctionCall = {
  kind: "call";
  name: string;
  args: Argument[];
  at: number;
  end: number;
};

export type Literal = { at: number } & (
  | { kind: "string"; value: string }
  | { kind: "number"; text: string }
  | { kind: "boolean"; value: boolean }
  | { kind: "null" }
);

export type Argument =
  | FunctionCall
  | Literal
  | { kind: "name"; name: string; at: number }
  | { kind: "list"; items: Literal[]; at: number };

/** Maximum length of a filter: some 1,200 ids in a list. */
const MAX_FILTER_CHARS = 50_000;
/** Maximum depth of nested calls, including the outermost one. */
const MAX_NESTING = 30;

const VALUE = "a text, number, true, false or null";
const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** Parses a filter text. Throws a FilterError. */
export function parseSyntax(text: string): FunctionCall {
  if (text.length > MAX_FILTER_CHARS) {
    const problem = `the filter has ${text.length} characters; at most ${MAX_FILTER_CHARS} are allowed`;
    throw new FilterError(MAX_FILTER_CHARS, problem, "the end of the filter");
  }
  return new Parser(tokenize(text)).parse();
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): FunctionCall {
    const token = this.#take();
    if (token.kind !== "name") {
      throw unexpected(token.at, "a function such as eq", describeToken(token));
    }
    const call = this.#call(token.name, token.at, 1);
    const rest = this.#take();
    if (rest.kind !== "end") {
      const problem =
        `expected the end of the filter but found ${describeToken(rest)}; ` +
        "several conditions are joined by and(...) or or(...)";
      throw new FilterError(rest.at, problem, "the end of the filter");
    }
    return call;
  }

  #call(name: string, at: number, level: number): FunctionCall {
    if (level > MAX_NESTING) {
      const problem = `functions are nested more than ${MAX_NESTING} levels deep`;
      throw new FilterError(at, problem, `at most ${MAX_NESTING} levels`);
    }
    const open = this.#take();
    if (!isMark(open, "(")) throw unexpected(open.at, "'('", describeToken(open));
    const { items, end } = this.#until(")", () => this.#argument(level));
    return { kind: "call", name, args: items, at, end };
  }

  #argument(level: number): Argument {
    const token = this.#take();
    if (isMark(token, "[")) {
      return { kind: "list", items: this.#until("]", () => this.#listItem()).items, at: token.at };
    }
    if (token.kind === "name" && isMark(this.#peek(), "(")) {
      return this.#call(token.name, token.at, level + 1);
    }
    const literal = toLiteral(token);
    if (literal !== undefined) return literal;
    if (token.kind === "name") return { kind: "name", name: token.name, at: token.at };
    throw unexpected(token.at, "a field, function or value", describeToken(token));
  }

  #listItem(): Literal {
    const token = this.#take();
    const literal = toLiteral(token);
    if (literal !== undefined) return literal;
    const hint = token.kind === "name" ? "; a text has to be in quotes" : "";
    throw new FilterError(
      token.at,
      `expected ${VALUE} but found ${describeToken(token)}${hint}`,
      VALUE,
    );
  }

  /** Reads items with commas between them, up to the closing mark. */
  #until<Item>(mark: Punctuation, item: () => Item): { items: Item[]; end: number } {
    const items: Item[] = [];
    const first = this.#peek();
    if (isMark(first, mark)) {
      this.#take();
      return { items, end: first.at };
    }
    for (;;) {
      items.push(item());
      const token = this.#take();
      if (isMark(token, mark)) return { items, end: token.at };
      if (!isMark(token, ",")) throw unexpected(token.at, `',' or '${mark}'`, describeToken(token));
    }
  }

  #peek(): Token {
    const token = this.#tokens[Math.min(this.#next, this.#tokens.length - 1)];
    if (token === undefined) throw new Error("there is always an end");
    return token;
  }

  #take(): Token {
    const token = this.#peek();
    this.#next += 1;
    return token;
  }
}

function isMark(token: Token, mark: Punctuation): boolean {
  return token.kind === "punctuation" && token.mark === mark;
}

function toLiteral(token: Token): Literal | undefined {
  if (token.kind === "string" || token.kind === "number") return token;
  if (token.kind !== "name") return undefined;
  const value = CONSTANTS.get(token.name);
  if (value === undefined) return undefined;
  const { at } = token;
  return value === null ? { kind: "null", at } : { kind: "boolean", value, at };
}
