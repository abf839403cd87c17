import { join } from "node:path";
import { describe, test } from "vitest";
import { unstable_readConfig } from "wrangler";

const CONFIG = join(import.meta.dirname, "../../../wrangler.toml");

type Config = Record<string, unknown>;

function configOf(env?: "us" | "eu"): Config {
  const args = env === undefined ? { config: CONFIG } : { config: CONFIG, env };
  return { ...unstable_readConfig(args, { hideWarnings: true }) };
}

/** Keys whose values are names of resources, which end with the region. */
const NAMES = new Set(["database_name", "bucket_name", "queue"]);

/** Keys that each installation has for itself: its location and its names. */
const OWN = new Set(
  "targetEnvironment topLevelName definedEnvironments name vars routes database_id jurisdiction".split(
    " ",
  ),
);

/** Removes the region's own keys from a configuration; everything else must be the same in all regions. */
function common(value: unknown, region: string): unknown {
  if (Array.isArray(value)) return value.map((item) => common(item, region));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !OWN.has(key) || isObjectBinding(value))
      .map(([key, inner]) => [
        key,
        NAMES.has(key) ? String(inner).replace(`-${region}`, "") : common(inner, region),
      ]),
  );
}

/** Bindings of objects have a `name`, too. */
function isObjectBinding(value: object): boolean {
  return "class_name" in value;
}

/** Removes the bucket that `wrangler dev` serves to S3 clients, which is for the local machine only. */
function withoutLocal(config: Config): Config {
  const buckets = config["r2_buckets"] as Config[];
  const shared = buckets.filter(({ local_dev }) => local_dev === undefined);
  if (shared.length !== buckets.length - 1) throw new Error("There is not one local bucket");
  return { ...config, r2_buckets: shared };
}

/** Returns the names of all resources that a configuration uses. */
function resources(config: Config): string[] {
  const lists = config as Record<string, Record<string, string>[]>;
  const queues = config["queues"] as Record<string, Record<string, string>[]>;
  return [
    String(config["name"]),
    ...(lists["d1_databases"] ?? []).map(({ database_name }) => `d1 ${database_name}`),
    ...(lists["r2_buckets"] ?? []).map(({ bucket_name }) => `r2 ${bucket_name}`),
    ...(queues["producers"] ?? []).map(({ queue }) => `queue ${queue}`),
  ];
}

describe.for(["us", "eu"] as const)("the region %s", (region) => {
  test("has every binding, trigger, limit and class of the top level", ({ expect }) => {
    expect(common(configOf(region), region)).toEqual(common(withoutLocal(configOf()), region));
  });

  test("has every variable of the top level, with a value of the same kind", ({ expect }) => {
    const kindsOf = (vars: object) =>
      Object.fromEntries(Object.entries(vars).map(([name, value]) => [name, typeof value]));
    expect(kindsOf(configOf(region)["vars"] as object)).toEqual(
      kindsOf(configOf()["vars"] as object),
    );
  });

  test("keeps its data in its jurisdiction", ({ expect }) => {
    const config = configOf(region);
    expect(config["vars"]).toMatchObject({ REGION: region, JURISDICTION: region });
    const buckets = config["r2_buckets"] as Config[];
    expect(new Set(buckets.map(({ jurisdiction }) => jurisdiction))).toEqual(new Set([region]));
  });

  test("consumes the queues that it sends to", ({ expect }) => {
    const queues = configOf(region)["queues"] as Record<string, { queue: string }[]>;
    const names = (list: { queue: string }[] = []) => list.map(({ queue }) => queue).toSorted();
    expect(names(queues["consumers"])).toEqual(names(queues["producers"]));
    expect(names(queues["consumers"])).not.toEqual([]);
  });
});

test("the regions share no resource with each other, nor with the top level", ({ expect }) => {
  const all = [configOf(), configOf("us"), configOf("eu")].flatMap(resources);
  expect(all).toHaveLength(new Set(all).size);
});
