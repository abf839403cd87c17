import { describe } from "vitest";
import type { S3Failure } from "../../../../src/bulk-export/s3/s3-error.ts";
import { bucketAt, bytes, failureOf } from "./support/buckets.ts";
import { type Answer, answer, s3Error, test } from "./support/scripted-server.ts";

const HTML = "<!DOCTYPE html><html><body><h1>Not Found</h1></body></html>";

const TO_PUT: [who: string, answer: Answer, failure: S3Failure, message: string][] = [
  [
    "AWS: unknown key",
    s3Error(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist."),
    "unknown_key_id",
    "InvalidAccessKeyId: The AWS Access Key Id you provided does not exist.",
  ],
  [
    "AWS: wrong secret",
    s3Error(403, "SignatureDoesNotMatch", "The request signature does not match"),
    "access_denied",
    "SignatureDoesNotMatch: The request signature does not match",
  ],
  [
    "AWS: no permission",
    s3Error(403, "AccessDenied", "Access Denied"),
    "access_denied",
    "AccessDenied: Access Denied",
  ],
  [
    "AWS: an encryption key that may not be used",
    s3Error(400, "KMS.DisabledException", "The key is disabled"),
    "access_denied",
    "KMS.DisabledException: The key is disabled",
  ],
  [
    "AWS: expired session",
    s3Error(400, "ExpiredToken", "The provided token has expired."),
    "access_denied",
    "ExpiredToken: The provided token has expired.",
  ],
  [
    "AWS: no bucket",
    s3Error(404, "NoSuchBucket", "The specified bucket does not exist"),
    "invalid_bucket",
    "NoSuchBucket: The specified bucket does not exist",
  ],
  [
    "AWS, MinIO: another region signed for",
    s3Error(400, "AuthorizationHeaderMalformed", "the region 'a' is wrong; expecting 'b'"),
    "invalid_bucket",
    "AuthorizationHeaderMalformed: the region 'a' is wrong; expecting 'b'",
  ],
  [
    "AWS: another region addressed",
    s3Error(301, "PermanentRedirect", "The bucket must be addressed otherwise"),
    "invalid_bucket",
    "PermanentRedirect: The bucket must be addressed otherwise",
  ],
  [
    "AWS: object lock without a checksum",
    s3Error(400, "InvalidRequest", "Content-MD5 is required"),
    "invalid_bucket",
    "InvalidRequest: Content-MD5 is required",
  ],
  [
    "AWS: clocks apart",
    s3Error(403, "RequestTimeTooSkewed", "The difference is too large"),
    "clock_skew",
    "RequestTimeTooSkewed: The difference is too large",
  ],
  [
    "AWS: too many requests",
    s3Error(503, "SlowDown", "Please reduce your request rate."),
    "unavailable",
    "SlowDown: Please reduce your request rate.",
  ],
  [
    "AWS: body came too slowly",
    s3Error(400, "RequestTimeout", "Your socket connection was not read from"),
    "unavailable",
    "RequestTimeout: Your socket connection was not read from",
  ],
  [
    "R2: unknown key",
    s3Error(401, "Unauthorized", "Unauthorized"),
    "unknown_key_id",
    "Unauthorized: Unauthorized",
  ],
  [
    "AWS: a part is lost",
    s3Error(400, "InvalidPart", "One or more of the parts could not be found."),
    "unavailable",
    "InvalidPart: One or more of the parts could not be found.",
  ],
  [
    "R2: another service's key",
    s3Error(400, "InvalidArgument", "Credential access key has length 20, should be 32"),
    "unknown_key_id",
    "InvalidArgument: Credential access key has length 20, should be 32",
  ],
  [
    "R2: another service's region",
    s3Error(400, "InvalidRegionName", "The region name 'a' is not valid"),
    "invalid_bucket",
    "InvalidRegionName: The region name 'a' is not valid",
  ],
  [
    "GCS: unknown or inactive key",
    s3Error(403, "InvalidSecurity", "The provided security credentials are not valid."),
    "access_denied",
    "InvalidSecurity: The provided security credentials are not valid.",
  ],
  [
    "B2: unknown key",
    s3Error(403, "InvalidAccessKeyId", "Malformed Access Key Id"),
    "unknown_key_id",
    "InvalidAccessKeyId: Malformed Access Key Id",
  ],
  [
    "an S3 server with a code of its own",
    s3Error(403, "QuotaGuard", "Go away"),
    "access_denied",
    "QuotaGuard: Go away",
  ],
  ["an empty 400, of an expired token", answer(400), "access_denied", "HTTP 400 without a reason"],
  ["an empty 403", answer(403), "access_denied", "HTTP 403 without a reason"],
  ["an empty 404", answer(404), "invalid_bucket", "HTTP 404 without a reason"],
  ["an empty 500", answer(500), "unavailable", "HTTP 500 without a reason"],
  ["a web server", answer(404, HTML), "invalid_endpoint", "HTTP 404 and a body that is not S3's"],
  [
    "an API of another kind",
    answer(405, '{"detail":"Method Not Allowed"}'),
    "invalid_endpoint",
    "HTTP 405 and a body that is not S3's",
  ],
  ["a proxy", answer(502, HTML), "unavailable", "HTTP 502 and a body that is not S3's"],
  ["a limiter", answer(429, "slow"), "unavailable", "HTTP 429 and a body that is not S3's"],
  [
    "a redirect to elsewhere",
    answer(302, "", { location: "https://login.example.com/" }),
    "invalid_endpoint",
    "HTTP 302 and a body that is not S3's",
  ],
  [
    "a server that takes anything",
    answer(200, "OK"),
    "invalid_endpoint",
    "HTTP 200 without an ETag",
  ],
  [
    "entities that grow",
    answer(403, '<!DOCTYPE a [<!ENTITY b "c">]><Error><Code>&b;</Code></Error>'),
    "invalid_endpoint",
    "HTTP 403 and a body that is not S3's",
  ],
];

describe("a refused upload", () => {
  test.for(TO_PUT)("%s", async ([, reply, failure, message], { start, expect }) => {
    const server = await start(reply);
    const error = await failureOf(
      bucketAt(server.url, {}, { attempts: 1 }).put("key", bytes("body")),
    );
    expect({ failure: error.failure, message: error.message }).toEqual({ failure, message });
  });

  test("has the region of the bucket for a request without a body", async ({ start, expect }) => {
    const server = await start(answer(301, "", { "x-amz-bucket-region": "eu-west-1" }));
    const error = await failureOf(bucketAt(server.url).head("key"));
    expect(error).toMatchObject({
      failure: "invalid_bucket",
      status: 301,
      message: "The bucket is in region eu-west-1",
    });
  });

  test("never includes a secret that the server repeats", async ({ start, expect }) => {
    const server = await start(s3Error(403, "AccessDenied", "No: the-secret-key"));
    const error = await failureOf(bucketAt(server.url).put("key", bytes("body")));
    expect(error).toMatchObject({
      message: "AccessDenied: No: [secret]",
      failure: "access_denied",
      status: 403,
      code: "AccessDenied",
    });
  });

  test("is unavailable if no server listens", async ({ start, expect }) => {
    const server = await start();
    await server.close();
    const error = await failureOf(
      bucketAt(server.url, {}, { attempts: 1 }).put("key", bytes("body")),
    );
    expect(error).toMatchObject({ failure: "unavailable", status: null, code: null });
    expect(error.message).toMatch(/^Connection failed: .*ECONNREFUSED/);
  });
});

describe("a missing object or bucket", () => {
  test.for<[string, Answer]>([
    ["a missing key", s3Error(404, "NoSuchKey", "The specified key does not exist.")],
    ["a 404 without a body", answer(404)],
  ])("is null for get and succeeds for delete, with %s", async ([, reply], { start, expect }) => {
    const server = await start(reply);
    expect(await bucketAt(server.url).get("key")).toBeNull();
    await bucketAt(server.url).delete("key");
  });

  test("is an error for get if it is the bucket", async ({ start, expect }) => {
    const server = await start(s3Error(404, "NoSuchBucket", "No such bucket"));
    const error = await failureOf(bucketAt(server.url).get("key"));
    expect(error).toMatchObject({ failure: "invalid_bucket", status: 404, code: "NoSuchBucket" });
  });
});
