import { resolve } from "node:path";
import { test } from "vitest";
import { unstable_readConfig } from "wrangler";
import { COMPATIBILITY_DATE } from "../../../src/revision-host/compatibility-date.ts";

test("deployed code has the same compatibility date as the Worker", ({ expect }) => {
  const config = resolve(import.meta.dirname, "../../../wrangler.toml");
  const { compatibility_date } = unstable_readConfig({ config }, { hideWarnings: true });
  expect(COMPATIBILITY_DATE).toBe(compatibility_date);
});
