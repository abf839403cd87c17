import fc from "fast-check";
import { describe, test, vi } from "vitest";
import { compileNamePattern, PatternError } from "../../../../src/tracing/usage/name-pattern.ts";

function matches(pattern: string, name: string): boolean {
  return compileNamePattern(pattern).matches(name);
}

function errorOf(pattern: string): unknown {
  try {
    compileNamePattern(pattern);
  } catch (error) {
    return error instanceof PatternError ? error.message : error;
  }
  return null;
}

describe("a pattern of model names", () => {
  test.for([
    ["gpt-4o", "openai/gpt-4o-mini", true],
    ["^gpt-4o$", "gpt-4o", true],
    ["^gpt-4o$", "gpt-4o-mini", false],
    ["^gpt.4o$", "gpt-4o", true],
    ["^claude-3-5-sonnet-\\d{8}$", "claude-3-5-sonnet-20241022", true],
    ["^claude-3-5-sonnet-\\d{8}$", "claude-3-5-sonnet-2024102", false],
    ["^claude-3-5-sonnet-\\d{8}$", "claude-3-5-sonnet-202410221", false],
    ["^(openai/)?gpt-(4o|4\\.1)(-mini)?$", "openai/gpt-4.1-mini", true],
    ["^(openai/)?gpt-(4o|4\\.1)(-mini)?$", "gpt-4-1", false],
    ["^anthropic/claude\\-haiku\\-4\\.5$", "anthropic/claude-haiku-4.5", true],
    ["^gpt-4(?!o)", "gpt-4-turbo", true],
    ["^gpt-4(?!o)", "gpt-4o", false],
    ["^(?=.*mini)gpt", "gpt-4o-mini", true],
    ["^(?=.*mini)gpt", "gpt-4o", false],
    ["(?i)^GPT-4O$", "gpt-4o", true],
    ["(?i)^gpt-[^A-C]$", "gpt-b", false],
    ["^GPT-4O$", "gpt-4o", false],
    ["\\bo3\\b", "openai/o3", true],
    ["\\bo3\\b", "o3x", false],
    ["^[a-z]{2,4}-[0-9.]+$", "gpt-4.1", true],
    ["^[a-z]{2,4}-[0-9.]+$", "gemini-2.5", false],
    ["^(a|b|)*c$", "ababc", true],
    ["^a{2}$", "aa", true],
    ["^a{2}$", "aaa", false],
    ["^a{2,}?$", "aaaa", true],
    ["^(?:a{2}){2}$", "aaaa", true],
    ["^(?P<vendor>\\w+)/(?<name>.+)$", "openai/gpt", true],
    ["^[\\]\\-x]+$", "]-x", true],
    ["^[^/]+$", "a/b", false],
    ["", "anything", true],
  ] as const)("matches %s on %s: %s", ([pattern, name, expected], { expect }) => {
    expect(matches(pattern, name)).toBe(expected);
  });

  test("matches no name of more than 256 characters", ({ expect }) => {
    expect(matches("a", "a".repeat(256))).toBe(true);
    expect(matches("a", "a".repeat(257))).toBe(false);
  });
});

describe("a pattern is refused if it is", () => {
  test.for([
    ["(", "missing ) (at 1)"],
    ["a)", "unmatched ) (at 1)"],
    ["[a", "missing ] (at 2)"],
    ["[z-a]", "not a range (at 4)"],
    ["*a", "nothing to repeat (at 1)"],
    ["a**", "nothing to repeat (at 3)"],
    ["a{x}", "{ has to be escaped, or to be a repetition like {2,4} (at 1)"],
    ["a{3,2}", "repetition bounds are out of order (at 6)"],
    ["a{1001}", "more than 1000 repetitions (at 7)"],
    ["^*", "an assertion cannot be repeated (at 2)"],
    ["(a)\\1", "\\1 is not supported (at 5)"],
    ["\\p{L}", "\\p is not supported (at 2)"],
    ["\\", "nothing after \\ (at 1)"],
    ["(?<=a)b", "an unsupported kind of group (at 1)"],
    ["a(?i)b", "an unsupported kind of group (at 2)"],
    ["((a*)*)*", "its repetitions are nested too deep"],
    ["(".repeat(60), "groups are nested too deep (at 51)"],
  ] as const)("%s", ([pattern, message], { expect }) => {
    expect(errorOf(pattern)).toBe(message);
  });
});

/** Generates patterns whose meaning JavaScript shares. */
const patternText = fc.letrec<{ pattern: string; term: string; atom: string }>((tie) => ({
  pattern: fc
    .array(fc.array(tie("term"), { maxLength: 3 }), { minLength: 1, maxLength: 2 })
    .map((branches) => branches.map((terms) => terms.join("")).join("|")),
  term: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom("^", "$", "\\b", "\\B"),
    fc
      .tuple(tie("atom"), fc.constantFrom("", "", "?", "*", "+", "{2}", "{1,3}", "{2,}", "*?"))
      .map(([atom, quantifier]) => `${atom}${quantifier}`),
  ),
  atom: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom("a", "b", "-", ".", "\\.", "\\d", "\\W", "[ab]", "[^a]", "[a-c1-]", "[\\w-]"),
    tie("pattern").map((pattern) => `(${pattern})`),
    tie("pattern").map((pattern) => `(?:${pattern})`),
  ),
}));

const lookahead = fc
  .tuple(fc.constantFrom("", "(?="), patternText.pattern, fc.constantFrom("(?!", "(?:"))
  .map(([open, pattern, other]) => (open === "" ? pattern : `${open}${pattern})${other}a)b*`));

const nameText = fc.string({ unit: fc.constantFrom("a", "b", "B", "-", ".", "1"), maxLength: 8 });

test("patterns have the same meaning as in JavaScript", ({ expect }) => {
  let compared = 0;
  fc.assert(
    fc.property(
      fc.oneof(patternText.pattern, lookahead),
      fc.array(nameText, { minLength: 4, maxLength: 4 }),
      (pattern, names) => {
        if (errorOf(pattern) !== null) return;
        const expression = new RegExp(pattern);
        const insensitive = new RegExp(pattern, "i");
        for (const name of names) {
          compared += 1;
          expect([pattern, name, matches(pattern, name)]).toEqual([
            pattern,
            name,
            expression.test(name),
          ]);
          expect(matches(`(?i)${pattern}`, name)).toBe(insensitive.test(name));
        }
      },
    ),
    { numRuns: 500 },
  );
  expect(compared).toBeGreaterThan(1000);
});

test.for([
  "^(a*)*$",
  "^(a|a)*$",
  "^(a|aa)+$",
  `^${"a?".repeat(30)}${"a".repeat(30)}b$`,
  ".*.*.*.*.*c",
])("%s takes linear time for a longer name that is made for it", (pattern, { expect }) => {
  const compiled = compileNamePattern(pattern);
  const looksAt = (length: number): number => {
    const charAt = vi.spyOn(String.prototype, "charAt");
    try {
      expect(compiled.matches(`${"a".repeat(length)}!`)).toBe(false);
      return charAt.mock.calls.length;
    } finally {
      charAt.mockRestore();
    }
  };
  const short = looksAt(31);
  expect(short).toBeGreaterThanOrEqual(31);
  // The name has eight times the length: 8 would be linear, 64 quadratic, and backtracking would not end.
  expect(looksAt(248) / short).toBeLessThan(9);
});
