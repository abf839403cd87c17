import { test } from "vitest";
import { parseFilter } from "../../../../src/tracing/filter/filter.ts";
import { requiredTexts } from "../../../../src/tracing/filter/required-texts.ts";

const text = (of: string) => ({ kind: "text", text: of });

test.for([
  ['search("Banana splits")', { kind: "all", of: [text("banana"), text("splits")] }],
  ['search(inputs, "one banana")', text("one banana")],
  [
    'like(output_value, "%two__bananas%or_more")',
    { kind: "all", of: [text("bananas"), text("more")] },
  ],
  ['eq(name, "banana")', text("banana")],
  ['in(name, ["banana", "apple"])', { kind: "any", of: [text("banana"), text("apple")] }],
  ['has(tags, "fruit")', text("fruit")],
  ['has(metadata, \'{"kind": "fruit"}\')', { kind: "all", of: [text("kind"), text("fruit")] }],
  ['and(eq(name, "banana"), gt(latency, 1))', text("banana")],
  [
    'or(eq(name, "banana"), eq(error, "apple"))',
    { kind: "any", of: [text("banana"), text("apple")] },
  ],
  // Characters that JSON escapes are left out.
  [
    String.raw`search(inputs, "say \"banana\" now")`,
    { kind: "all", of: [text("say "), text("banana"), text(" now")] },
  ],
] as const)("%s requires texts", ([filter, required], { expect }) => {
  expect(requiredTexts(parseFilter(filter))).toEqual(required);
});

test.for([
  'search("abc")',
  'in(name, ["banana", "abc"])',
  'or(eq(name, "banana"), gt(latency, 1))',
  'not(eq(name, "banana"))',
  'neq(name, "banana")',
  'notlike(inputs, "%banana%")',
  'eq(feedback_comment, "banana")',
  'eq(thread_id, "banana")',
  "eq(total_tokens, 1000000)",
  `in(name, ${JSON.stringify(Array.from({ length: 201 }, (_, n) => `banana ${n}`))})`,
])("%s requires no texts", (filter, { expect }) => {
  expect(requiredTexts(parseFilter(filter))).toBeNull();
});
