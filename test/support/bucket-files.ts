import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AwsClient } from "aws4fetch";
import { onTestFinished } from "vitest";

/** A bucket of any S3 server, with its name in the path. */
export type TestBucket = {
  endpoint: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
};

/** Returns the sorted keys of the bucket's objects. */
export async function listKeys(bucket: TestBucket, prefix = ""): Promise<string[]> {
  const keys: string[] = [];
  let token: string | undefined;
  do {
    const query = new URLSearchParams({ "list-type": "2", prefix });
    if (token !== undefined) query.set("continuation-token", token);
    const xml = Buffer.from(await get(bucket, `?${query}`)).toString();
    keys.push(...textsOf(xml, "Key"));
    [token] = textsOf(xml, "NextContinuationToken");
  } while (token !== undefined);
  return keys.toSorted();
}

export async function readObject(bucket: TestBucket, key: string): Promise<Uint8Array> {
  return get(bucket, `/${key.split("/").map(encodeURIComponent).join("/")}`);
}

/** Copies the objects into a folder that is removed after the test. Its paths do not contain `prefix`. */
export async function downloadFolder(bucket: TestBucket, prefix: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "threadworks-bucket-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const key of await listKeys(bucket, prefix)) {
    const file = join(folder, key.slice(prefix.length));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, await readObject(bucket, key));
  }
  return folder;
}

async function get({ endpoint, bucket, ...keys }: TestBucket, path: string): Promise<Uint8Array> {
  const client = new AwsClient({ ...keys, service: "s3", region: "us-east-1", retries: 0 });
  const response = await client.fetch(`${endpoint}/${bucket}${path}`);
  if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
  return response.bytes();
}

function textsOf(xml: string, element: string): string[] {
  const found = xml.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, "g"));
  return [...found].map(([, text = ""]) =>
    text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"),
  );
}
