import { describe, test } from "vitest";
import { destinationCreateSchema } from "../../../../src/bulk-export/destinations/schemas.ts";

const CONFIG = { bucket_name: "exports", prefix: "", region: "eu-west-1" };

function parsedConfig(change: object) {
  const body = { display_name: "Ours", config: { ...CONFIG, ...change } };
  return destinationCreateSchema.safeParse(body);
}

describe("a prefix", () => {
  test.for([
    ["", ""],
    ["/", ""],
    ["a", "a"],
    ["/a/b/", "a/b"],
    ["//a=1/ü'()//", "a=1/ü'()"],
    ["a..b/.c/...", "a..b/.c/..."],
    ["x".repeat(800), "x".repeat(800)],
  ] as const)("is stored from %j as %j", ([given, prefix], { expect }) => {
    expect(parsedConfig({ prefix: given }).data?.config.prefix).toBe(prefix);
  });

  test.for([
    "a//b",
    ".",
    "..",
    "a/../b",
    "a/./b",
    "a\nb",
    "a\u0000",
    "\u0085",
    "\ud800",
    "é".repeat(1025),
  ])("is refused when it is %j", (prefix, { expect }) => {
    expect(parsedConfig({ prefix }).error?.issues).toMatchObject([{ path: ["config", "prefix"] }]);
  });
});

describe("the name of a bucket", () => {
  test.for(["abc", "my.bucket-1", "Legacy_Bucket", "x".repeat(63)])(
    "can be %j",
    (name, { expect }) => {
      expect(parsedConfig({ bucket_name: name }).data?.config.bucket_name).toBe(name);
    },
  );

  test.for(["ab", "x".repeat(64), "a/b", "-abc", "abc.", "a b", "a?b", "s3://abc"])(
    "cannot be %j",
    (name, { expect }) => {
      expect(parsedConfig({ bucket_name: name }).error?.issues).toMatchObject([
        { path: ["config", "bucket_name"] },
      ]);
    },
  );
});
