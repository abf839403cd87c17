import { readFileSync } from "node:fs";
import { test } from "vitest";
import { LANGGRAPH_VERSION, VERSION } from "../../../src/lib/version.ts";

test("the versions equal those of package.json", ({ expect }) => {
  const manifest = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  expect(JSON.parse(manifest)).toMatchObject({
    version: VERSION,
    dependencies: { "@langchain/langgraph": LANGGRAPH_VERSION },
  });
});
