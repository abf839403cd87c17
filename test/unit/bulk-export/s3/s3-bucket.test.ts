import { test as base, describe } from "vitest";
import { S3Bucket } from "../../../../src/bulk-export/s3/s3-bucket.ts";
import { startS3Server } from "../../../support/s3-server.ts";
import { bytes } from "./support/buckets.ts";

const test = base
  .extend("start", { scope: "file" }, () => startS3Server)
  .extend("server", { scope: "file" }, async ({ start }, { onCleanup }) => {
    const server = await start();
    onCleanup(() => server.close());
    return server;
  })
  .extend("bucket", ({ server }) => {
    const { url, bucket, accessKeyId, secretAccessKey } = server;
    return new S3Bucket(
      { bucket, region: null, endpointUrl: url, bucketInHost: false },
      { accessKeyId, secretAccessKey, sessionToken: null },
      { requestTimeoutMs: 60_000, attempts: 1, allowPrivate: true },
    );
  });

const PART_BYTES = 5 * 1024 * 1024;

describe("objects", () => {
  test("are stored with their metadata, reported and read", async ({ server, bucket, expect }) => {
    await bucket.put("a/b=1/c.txt", bytes("content"), {
      contentType: "text/plain",
      metadata: { step: "7" },
    });
    expect(await server.list("a/")).toEqual(["a/b=1/c.txt"]);
    expect(await bucket.head("a/b=1/c.txt")).toEqual({ bytes: 7, metadata: { step: "7" } });
    expect(await bucket.get("a/b=1/c.txt")).toEqual(bytes("content"));
  });

  test("can be empty", async ({ bucket, expect }) => {
    await bucket.put("empty", new Uint8Array(0));
    expect(await bucket.head("empty")).toEqual({ bytes: 0, metadata: {} });
  });

  test.for(["reserved !'()*=&+,;:@$~[]#?%", "ünïcödé/日本", "a b/c%2Fd"])(
    "can have the key %s",
    async (key, { server, bucket, expect }) => {
      await bucket.put(`named/${key}`, bytes(key));
      expect(await server.list("named/")).toContain(`named/${key}`);
      expect(await bucket.get(`named/${key}`)).toEqual(bytes(key));
      await bucket.delete(`named/${key}`);
      expect(await server.list("named/")).not.toContain(`named/${key}`);
    },
  );

  test("are null if they do not exist, and can be deleted", async ({ bucket, expect }) => {
    expect(await bucket.head("missing")).toBeNull();
    expect(await bucket.get("missing")).toBeNull();
    await bucket.delete("missing");
  });
});

describe("multipart uploads", () => {
  test("make one object of their parts", async ({ server, bucket, expect }) => {
    const first = new Uint8Array(PART_BYTES).fill(1);
    const id = await bucket.createMultipart("parts", { metadata: { step: "8" } });
    const etags = [
      await bucket.uploadPart("parts", id, 1, first),
      await bucket.uploadPart("parts", id, 2, bytes("end")),
    ];
    await bucket.completeMultipart("parts", id, etags);
    expect(await bucket.head("parts")).toEqual({ bytes: PART_BYTES + 3, metadata: { step: "8" } });
    expect(Buffer.concat([first, bytes("end")]).equals(await server.read("parts"))).toBe(true);
  });
});
