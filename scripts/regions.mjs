/**
 * Writes the regions' tables of wrangler.toml, so that a binding or a variable has to be written only once
 * instead of three times. In wrangler an environment inherits limits, triggers, object classes and
 * compatibility, and nothing else. With `--check` it changes nothing, and fails when the tables are not
 * current.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "smol-toml";
import { REPO_ROOT } from "./setup.mjs";

const CONFIG = join(REPO_ROOT, "wrangler.toml");
const REGIONS = join(REPO_ROOT, "regions.toml");

const MARKER = "# The regions. Written by `npm run regions`; what is changed here is lost.\n";

/** The top-level settings of wrangler.toml that an environment does not inherit. */
const NOT_INHERITED = [
  "vars",
  "d1_databases",
  "r2_buckets",
  "worker_loaders",
  "durable_objects",
  "queues",
];

/** Returns the whole text of wrangler.toml with the current tables of the regions. */
function withRegions(text) {
  const [top] = text.split(MARKER);
  const config = parse(top);
  const regions = parse(readFileSync(REGIONS, "utf8"));
  const env = Object.fromEntries(
    Object.entries(regions).map(([region, own]) => [region, environmentOf(config, region, own)]),
  );
  return `${top.trimEnd()}\n\n${MARKER}${stringify({ env })}`;
}

function environmentOf(config, region, { database_id, database_ids = {}, vars, ...own }) {
  const here = (name) => `${name}-${region}`;
  const queue = (item) => ({ ...item, queue: here(item.queue) });
  const shared = Object.fromEntries(NOT_INHERITED.map((key) => [key, config[key]]));
  return {
    ...own,
    ...shared,
    vars: { ...config.vars, REGION: region, JURISDICTION: region, ...vars },
    d1_databases: config.d1_databases.map((database) => ({
      ...database,
      database_name: here(database.database_name),
      database_id: database.binding === "DB" ? database_id : database_ids[database.binding],
    })),
    // Buckets that `wrangler dev` serves locally are not deployed.
    r2_buckets: config.r2_buckets
      .filter(({ local_dev }) => local_dev === undefined)
      .map(({ binding, bucket_name }) => ({
        binding,
        bucket_name: here(bucket_name),
        jurisdiction: region,
      })),
    queues: {
      producers: config.queues.producers.map(queue),
      consumers: config.queues.consumers.map(queue),
    },
  };
}

const present = readFileSync(CONFIG, "utf8");
const wanted = withRegions(present);
if (process.argv.includes("--check")) {
  if (present !== wanted) {
    console.error("The regions of wrangler.toml are not current: run `npm run regions`.");
    process.exitCode = 1;
  }
} else if (present !== wanted) {
  writeFileSync(CONFIG, wanted);
}
