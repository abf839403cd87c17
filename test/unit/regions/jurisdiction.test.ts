import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { unstable_readConfig } from "wrangler";
import { parseSettings } from "../../../src/env.ts";
import { inJurisdiction, type Region } from "../../../src/lib/region.ts";

const REPO_ROOT = join(import.meta.dirname, "../../..");
const OWNER = "src/regions/regional-object.ts";

type Stub = { chosen: Region | null; jurisdiction: (name: Region) => Stub };

function stubNamespace(chosen: Region | null = null): Stub {
  return { chosen, jurisdiction: stubNamespace };
}

function chosenWith(JURISDICTION: string): Region | null {
  return inJurisdiction(stubNamespace(), parseSettings({ JURISDICTION }).jurisdiction).chosen;
}

describe("a namespace", () => {
  test.for(["us", "eu"])("has the configured jurisdiction: %s", (name, { expect }) => {
    expect(chosenWith(name)).toBe(name);
  });

  test("has no jurisdiction if none is configured, as locally", ({ expect }) => {
    expect(chosenWith("")).toBeNull();
  });

  test("is not replaced by another one for an unknown jurisdiction", ({ expect }) => {
    expect(() => chosenWith("mars")).toThrow("JURISDICTION");
  });
});

describe("the source code", () => {
  const files = globSync("src/**/*.ts", { cwd: REPO_ROOT }).filter((file) => file !== OWNER);
  const { durable_objects } = unstable_readConfig(
    { config: join(REPO_ROOT, "wrangler.toml") },
    { hideWarnings: true },
  );
  const names = (durable_objects.bindings as { name: string }[]).map(({ name }) => name);
  // In quotes it is a name; elsewhere it is the namespace itself.
  const namespace = new RegExp(`(?<!["'\\w])(${names.join("|")})(?!["'\\w])`);
  const method = /\.(getByName|idFromName|idFromString|newUniqueId)\(/;
  const comment = /\/\*[^]*?\*\/|\/\/.*/g;

  test(`reaches objects by ${OWNER} only`, ({ expect }) => {
    const others = files.filter((file) => {
      const code = readFileSync(join(REPO_ROOT, file), "utf8").replaceAll(comment, "");
      return namespace.test(code) || method.test(code);
    });
    expect(files.length).toBeGreaterThan(100);
    expect(others).toEqual([]);
  });
});
