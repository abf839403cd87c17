import { expect, test } from "vitest";
import { slugOf } from "../../../../src/control-plane/deployments/slug.ts";

const ID = "0a1b2c3d-0000-4000-8000-000000000000";

test.for([
  ["agent", false, "agent"],
  ["My_Agent", false, "my-agent"],
  ["a__", false, "a"],
  ["agent", true, "agent-0a1b2c3d"],
  [`${"a".repeat(49)}-b`, false, "a".repeat(49)],
  ["a".repeat(100), true, `${"a".repeat(50)}-0a1b2c3d`],
  // Without the suffix it could be mistaken for an id.
  ["ABCDEF01-0000-4000-8000-000000000000", false, "abcdef01-0000-4000-8000-000000000000-0a1b2c3d"],
] as const)("the slug of %s, with a suffix %s, is %s", ([name, suffix, slug]) => {
  expect(slugOf(name, ID, { suffix })).toBe(slug);
});
