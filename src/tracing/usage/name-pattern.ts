import {
  assertionStep,
  charStep,
  type CharTest,
  choiceStep,
  lookaheadStep,
  MAX_TEXT_CHARS,
  type PatternStep,
  repeatStep,
  sequenceStep,
} from "./pattern-step.ts";

/**
 * Regular expressions that any user may write, and that are tested on every run, so they need an engine that does
 * not backtrack. They mean the same as in JavaScript, and may match anywhere in a name; a leading `(?i)` ignores the
 * case of ASCII letters. Backreferences and lookbehind are not supported.
 *
 * They are parsed by hand because re2js, the linear engine for JavaScript, does not support lookahead. Price lists
 * exclude models with it (`gpt-4(?!o)`), as the built-in one does, and stored patterns would no longer match. It would
 * also add 147 KB to the Worker, where this takes 4.
 */
export type NamePattern = { matches: (name: string) => boolean };

/** `message` is meant for the author of the pattern. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

export const IGNORE_CASE = "(?i)";

const MAX_DEPTH = 50;
const MAX_REPEAT = 1000;
const MAX_COST = 200_000;

const isDigit: CharTest = (char) => char >= "0" && char <= "9";
const isWord: CharTest = (char) => /^[A-Za-z0-9_]$/.test(char);
const isSpace: CharTest = (char) => /^\s$/.test(char);

const CLASS_ESCAPES: Readonly<Record<string, CharTest>> = {
  d: isDigit,
  D: (char) => !isDigit(char),
  w: isWord,
  W: (char) => !isWord(char),
  s: isSpace,
  S: (char) => !isSpace(char),
};

const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  t: "\t",
  n: "\n",
  r: "\r",
  f: "\f",
  v: "\v",
};

/** Throws PatternError for a text that is not a pattern, uses unsupported syntax, or would take too long. */
export function compileNamePattern(source: string): NamePattern {
  const step = new PatternReader(source).read();
  if (step.cost > MAX_COST) throw new PatternError("its repetitions are nested too deep");
  return {
    matches: (name) => {
      if (name.length > MAX_TEXT_CHARS) return false;
      const everywhere = Array.from({ length: name.length + 1 }, (_, at) => at);
      return step.follow(name, everywhere).length > 0;
    },
  };
}

/** A recursive descent parser; each method reads what its name says and moves `#at` behind it. */
class PatternReader {
  readonly #source: string;
  readonly #ignoreCase: boolean;
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
    this.#ignoreCase = source.startsWith(IGNORE_CASE);
    if (this.#ignoreCase) this.#at = IGNORE_CASE.length;
  }

  read(): PatternStep {
    const step = this.#choice();
    if (this.#at < this.#source.length) throw this.#error("unmatched )");
    return step;
  }

  #choice(): PatternStep {
    const branches = [this.#sequence()];
    while (this.#take("|")) branches.push(this.#sequence());
    return choiceStep(branches);
  }

  #sequence(): PatternStep {
    const steps: PatternStep[] = [];
    for (
      let next = this.#peek();
      next !== "" && next !== "|" && next !== ")";
      next = this.#peek()
    ) {
      steps.push(this.#quantified());
    }
    return sequenceStep(steps);
  }

  #quantified(): PatternStep {
    const step = this.#atom();
    const bounds = this.#quantifier();
    if (bounds === null) return step;
    if (step.isAssertion) throw this.#error("an assertion cannot be repeated");
    const [min, max] = bounds;
    if (max < min) throw this.#error("repetition bounds are out of order");
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT)) {
      throw this.#error(`more than ${MAX_REPEAT} repetitions`);
    }
    this.#take("?");
    return repeatStep(step, min, max);
  }

  #quantifier(): [min: number, max: number] | null {
    if (this.#take("*")) return [0, Infinity];
    if (this.#take("+")) return [1, Infinity];
    if (this.#take("?")) return [0, 1];
    if (this.#peek() !== "{") return null;
    const bounds = /^\{(\d{1,6})(?:(,)(\d{1,6})?)?\}/.exec(this.#source.slice(this.#at));
    if (bounds === null) throw this.#error("{ has to be escaped, or to be a repetition like {2,4}");
    const [text, min, comma, max] = bounds;
    this.#at += text.length;
    return [Number(min), comma === undefined ? Number(min) : Number(max ?? Infinity)];
  }

  #atom(): PatternStep {
    const char = this.#next();
    switch (char) {
      case "(":
        return this.#group();
      case "[":
        return charStep(this.#charClass());
      case ".":
        return charStep((given) => !/^[\n\r\u2028\u2029]$/.test(given));
      case "^":
        return assertionStep((_, at) => at === 0);
      case "$":
        return assertionStep((text, at) => at === text.length);
      case "*":
      case "+":
      case "?":
      case "{":
        throw this.#error("nothing to repeat");
      case "\\":
        return this.#escape();
      default:
        return this.#literal(char);
    }
  }

  #group(): PatternStep {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.#error("groups are nested too deep");
    const kind = /^\?(?:[:=!]|P?<\w+>)/.exec(this.#source.slice(this.#at))?.[0] ?? "";
    if (kind === "" && this.#peek() === "?") throw this.#error("an unsupported kind of group");
    this.#at += kind.length;
    const step = this.#choice();
    if (!this.#take(")")) throw this.#error("missing )");
    this.#depth -= 1;
    if (kind === "?=" || kind === "?!") return lookaheadStep(step, { negated: kind === "?!" });
    // The step is wrapped, because `(^)*` repeats a group, whatever it contains.
    return sequenceStep([step]);
  }

  #escape(): PatternStep {
    const char = this.#next();
    if (char === "b" || char === "B") {
      const between = char === "b";
      return assertionStep((text, at) => isWordBoundary(text, at) === between);
    }
    const test = this.#escapedTest(char);
    return typeof test === "string" ? this.#literal(test) : charStep(test);
  }

  /** Returns a set of characters, or the single character that the escape stands for. */
  #escapedTest(char: string): CharTest | string {
    if (char === "") throw this.#error("nothing after \\");
    const test = CLASS_ESCAPES[char];
    if (test !== undefined) return test;
    const control = CONTROL_ESCAPES[char];
    if (control !== undefined) return control;
    if (isWord(char)) throw this.#error(`\\${char} is not supported`);
    return char;
  }

  #charClass(): CharTest {
    const negated = this.#take("^");
    const tests: CharTest[] = [];
    while (!this.#take("]")) {
      const first = this.#classMember();
      const isRange = this.#peek() === "-" && this.#source.charAt(this.#at + 1) !== "]";
      if (typeof first !== "string") {
        tests.push(first);
      } else if (isRange) {
        this.#at += 1;
        const last = this.#classMember();
        if (typeof last !== "string" || last < first) throw this.#error("not a range");
        tests.push((char) => char >= first && char <= last);
      } else {
        tests.push((char) => char === first);
      }
    }
    const has = this.#eitherCase((char) => tests.some((test) => test(char)));
    return negated ? (char) => !has(char) : has;
  }

  #classMember(): CharTest | string {
    const char = this.#next();
    if (char === "") throw this.#error("missing ]");
    if (char !== "\\") return char;
    return this.#escapedTest(this.#next());
  }

  #literal(char: string): PatternStep {
    return charStep(this.#eitherCase((given) => given === char));
  }

  #eitherCase(test: CharTest): CharTest {
    return this.#ignoreCase ? (char) => test(char) || test(otherCase(char)) : test;
  }

  #peek(): string {
    return this.#source.charAt(this.#at);
  }

  #next(): string {
    const char = this.#peek();
    this.#at += char.length;
    return char;
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at += 1;
    return true;
  }

  #error(reason: string): PatternError {
    return new PatternError(`${reason} (at ${this.#at})`);
  }
}

function otherCase(char: string): string {
  if (char >= "a" && char <= "z") return char.toUpperCase();
  return char >= "A" && char <= "Z" ? char.toLowerCase() : char;
}

function isWordBoundary(text: string, at: number): boolean {
  return isWord(text.charAt(at - 1)) !== isWord(text.charAt(at));
}
