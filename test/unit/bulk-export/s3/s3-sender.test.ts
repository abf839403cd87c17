import { createHash } from "node:crypto";
import { describe } from "vitest";
import { S3Bucket } from "../../../../src/bulk-export/s3/s3-bucket.ts";
import { bucketAt, bytes, CREDENTIALS, failureOf } from "./support/buckets.ts";
import {
  type Answer,
  answer,
  half,
  reset,
  s3Error,
  silence,
  stored,
  test,
} from "./support/scripted-server.ts";

const SLOW_DOWN = s3Error(503, "SlowDown", "Please reduce your request rate.");

const DENIED = s3Error(403, "AccessDenied", "Access Denied");

const COMPLETED = answer(
  200,
  '  <?xml version="1.0"?><CompleteMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><ETag>&quot;1-2&quot;</ETag></CompleteMultipartUploadResult>',
);

describe("a request", () => {
  test("is signed for its region, with the digests of its body", async ({ start, expect }) => {
    const server = await start(stored);
    await bucketAt(server.url, { region: "eu-west-3" }).put("a=1/b", bytes("body"), {
      contentType: "text/plain",
      metadata: { step: "3" },
    });
    const [seen] = server.seen;
    expect(seen).toMatchObject({
      method: "PUT",
      path: "/exports/a%3D1/b",
      body: Buffer.from("body"),
    });
    expect(seen?.headers).toMatchObject({
      "content-length": "4",
      "content-type": "text/plain",
      "x-amz-meta-step": "3",
      "content-md5": createHash("md5").update("body").digest("base64"),
      "x-amz-content-sha256": createHash("sha256").update("body").digest("hex"),
    });
    expect(seen?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=key-id\/\d{8}\/eu-west-3\/s3\/aws4_request, SignedHeaders=content-md5;host;x-amz-content-sha256;x-amz-date;x-amz-meta-step, Signature=[0-9a-f]{64}$/,
    );
  });

  test("is signed for us-east-1 if no region is known", async ({ start, expect }) => {
    const server = await start(stored);
    await bucketAt(server.url).put("key", bytes("body"));
    expect(server.seen[0]?.headers.authorization).toContain("/us-east-1/s3/aws4_request");
  });

  test("has the token of temporary credentials", async ({ start, expect }) => {
    const server = await start(stored);
    const bucket = new S3Bucket(
      { bucket: "exports", region: null, endpointUrl: server.url, bucketInHost: false },
      { ...CREDENTIALS, sessionToken: "the-token" },
      { requestTimeoutMs: 60_000, attempts: 1, allowPrivate: true },
    );
    await bucket.put("key", bytes("body"));
    const headers = server.seen[0]?.headers;
    expect(headers?.["x-amz-security-token"]).toBe("the-token");
    expect(headers?.authorization).toContain(";x-amz-security-token,");
  });

  test("goes to the endpoint's path, and to no other address", async ({ start, expect }) => {
    const other = await start(stored);
    const server = await start(answer(307, "", { location: `${other.url}/exports/key` }));
    const error = await failureOf(bucketAt(`${server.url}/s3/v1/`).put("key", bytes("body")));
    expect(error.failure).toBe("invalid_endpoint");
    expect(server.seen.map(({ path }) => path)).toEqual(["/s3/v1/exports/key"]);
    expect(other.seen).toEqual([]);
  });
});

describe("a request is repeated", () => {
  test.for<[string, Answer]>([
    ["to slow down", SLOW_DOWN],
    ["of an inner error", answer(500)],
    ["that breaks before it begins", reset],
    ["that breaks off", half],
  ])("after an answer %s", async ([, first], { start, expect }) => {
    const server = await start(first, stored);
    await bucketAt(server.url).put("key", bytes("body"));
    expect(server.seen.map(({ body }) => String(body))).toEqual(["body", "body"]);
  });

  test("up to the maximum number of attempts", async ({ start, expect }) => {
    const server = await start(SLOW_DOWN);
    const error = await failureOf(bucketAt(server.url).put("key", bytes("body")));
    expect(error).toMatchObject({ failure: "unavailable", code: "SlowDown", status: 503 });
    expect(server.seen).toHaveLength(3);
  });

  test("not after a refusal", async ({ start, expect }) => {
    const server = await start(DENIED, stored);
    await failureOf(bucketAt(server.url).put("key", bytes("body")));
    expect(server.seen).toHaveLength(1);
  });

  test("once if it may leave an upload behind", async ({ start, expect }) => {
    const server = await start(SLOW_DOWN);
    await failureOf(bucketAt(server.url).createMultipart("key"));
    expect(server.seen.map(({ method, path }) => [method, path])).toEqual([
      ["POST", "/exports/key?uploads="],
      ["POST", "/exports/key?uploads="],
    ]);
  });

  test("not when there is no time left for it", async ({ start, expect }) => {
    const server = await start(SLOW_DOWN);
    const deadline = Date.now();
    const bucket = bucketAt(server.url, {}, { attempts: 50, deadline: () => deadline });
    const error = await failureOf(bucket.put("key", bytes("body")));
    expect(error).toMatchObject({
      failure: "unavailable",
      message: "No time is left for a request",
    });
    expect(server.seen).toEqual([]);
  });
});

describe("a silent server", () => {
  test("is waited for up to the time-out of a request", async ({ start, expect }) => {
    const server = await start(silence);
    const bucket = bucketAt(server.url, {}, { attempts: 1, requestTimeoutMs: 50 });
    const error = await failureOf(bucket.put("key", bytes("body")));
    expect(error).toMatchObject({
      failure: "unavailable",
      status: null,
      message: "No complete answer within 50 ms",
    });
  });

  test("is not waited for longer after the start of its answer", async ({ start, expect }) => {
    const server = await start((response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
    });
    const bucket = bucketAt(server.url, {}, { attempts: 1, requestTimeoutMs: 50 });
    const error = await failureOf(bucket.get("key"));
    expect(error.message).toBe("No complete answer within 50 ms");
  });

  test("is not waited for past the deadline", async ({ start, expect }) => {
    const server = await start(silence);
    const deadline = Date.now() + 100;
    const bucket = bucketAt(server.url, {}, { attempts: 1, deadline: () => deadline });
    const error = await failureOf(bucket.put("key", bytes("body")));
    expect(error.message).toMatch(/^No complete answer within \d{1,3} ms$/);
  });
});

describe("a multipart upload", () => {
  test("is completed by an answer with a completion", async ({ start, expect }) => {
    const server = await start(COMPLETED);
    await bucketAt(server.url).completeMultipart("key", "id/1", ['"a"', '"b&c"']);
    const [seen] = server.seen;
    expect(seen?.path).toBe("/exports/key?uploadId=id%2F1");
    expect(String(seen?.body)).toBe(
      '<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Part><PartNumber>1</PartNumber><ETag>"a"</ETag></Part><Part><PartNumber>2</PartNumber><ETag>"b&amp;c"</ETag></Part></CompleteMultipartUpload>',
    );
  });

  test.for<[string, Answer]>([
    ["that an error followed", s3Error(200, "InternalError", "We encountered an internal error.")],
    ["that was cut off", answer(200, '<?xml version="1.0"?><CompleteMultipartUploadResult><ETag>')],
    ["with nothing in it", answer(200)],
  ])("is not completed by a status %s", async ([, first], { start, expect }) => {
    const server = await start(first, COMPLETED);
    await bucketAt(server.url).completeMultipart("key", "id", ['"a"']);
    expect(server.seen).toHaveLength(2);
  });

  test("is recognised as completed already", async ({ start, expect }) => {
    const server = await start(reset, s3Error(404, "NoSuchUpload", "Does not exist"));
    const error = await failureOf(bucketAt(server.url).completeMultipart("key", "id", ['"a"']));
    expect(error).toMatchObject({ failure: "no_such_upload", status: 404 });
  });

  test("counts as aborted if it does not exist", async ({ start, expect }) => {
    const server = await start(s3Error(404, "NoSuchUpload", "Does not exist"));
    await bucketAt(server.url).abortMultipart("key", "id");
    expect(server.seen[0]?.method).toBe("DELETE");
  });

  test("is an error if it may not be aborted", async ({ start, expect }) => {
    const server = await start(DENIED);
    const error = await failureOf(bucketAt(server.url).abortMultipart("key", "id"));
    expect(error.failure).toBe("access_denied");
  });

  test("is not started by an HTML page", async ({ start, expect }) => {
    const server = await start(answer(200, "<html><body>Hello</body></html>"));
    const error = await failureOf(bucketAt(server.url).createMultipart("key"));
    expect(error).toMatchObject({
      failure: "invalid_endpoint",
      message: "HTTP 200 without an upload's id",
    });
  });
});
