import type { BulkExport, Destination } from "../api/exports.ts";

export type Snippet = { name: string; text: string };

/** Returns code that reads the files of an export, in several languages. The keys have to be filled in. */
export function snippetsFor(one: BulkExport, { config }: Destination): Snippet[] {
  const folder = [config.bucket_name, config.prefix].filter((part) => part !== "").join("/");
  const own = `${folder}/export_id=${one.id}`;
  const path = `${own}/**/*.parquet`;
  const endpoint = config.endpoint_url?.replace(/\/+$/, "") ?? "https://s3.amazonaws.com";
  const { host, pathname, protocol } = new URL(endpoint);
  const useSsl = protocol === "https:";
  const secret = [
    "  TYPE s3, KEY_ID '<key id>', SECRET '<secret>'",
    ...(config.endpoint_url === null
      ? []
      : [
          `  ENDPOINT '${host}${pathname === "/" ? "" : pathname}', URL_STYLE 'path', USE_SSL ${useSsl}`,
        ]),
  ].join(",\n");
  return [
    {
      name: "DuckDB",
      text: `CREATE SECRET (\n${secret}\n);\nSELECT count(*)\nFROM read_parquet('s3://${path}', hive_partitioning = true);`,
    },
    {
      name: "Spark",
      text: `spark.read.option("recursiveFileLookup", "true") \\\n  .parquet("s3a://${own}").count()`,
    },
    {
      name: "ClickHouse",
      text: `SELECT count()\nFROM s3(\n  '${endpoint}/${path}',\n  '<key id>', '<secret>', 'Parquet'\n);`,
    },
  ];
}
