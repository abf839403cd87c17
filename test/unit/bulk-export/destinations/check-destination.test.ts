import { describe } from "vitest";
import { checkDestination } from "../../../../src/bulk-export/destinations/check-destination.ts";
import { bucketAt } from "../s3/support/buckets.ts";
import { type Answer, answer, s3Error, stored, test } from "../s3/support/scripted-server.ts";

const DENIED = s3Error(403, "AccessDenied", "Access Denied");

const DELETED = answer(204);

function check({ url }: { url: string }, prefix: string): Promise<string | null> {
  return checkDestination(bucketAt(url, {}, { attempts: 1 }), prefix);
}

describe("the check of a destination", () => {
  test("writes a file, reads it and deletes it", async ({ start, expect }) => {
    const echo: Answer = (response) => void response.end(written());
    const server = await start(stored, echo, DELETED);
    const written = () => server.seen[0]?.body;
    expect(await check(server, "a b/c=d")).toBeNull();
    expect(server.seen.map(({ method }) => method)).toEqual(["PUT", "GET", "DELETE"]);
    const paths = new Set(server.seen.map(({ path }) => path));
    expect([...paths]).toEqual([
      expect.stringMatching(/^\/exports\/a%20b\/c%3Dd\/tmp\/[0-9a-f-]{36}\.txt$/),
    ]);
  });

  test("uses no leading slash without a prefix", async ({ start, expect }) => {
    const server = await start(stored, DENIED);
    expect(await check(server, "")).toBeNull();
    expect(server.seen[0]?.path).toMatch(/^\/exports\/tmp\/[0-9a-f-]{36}\.txt$/);
  });

  test("needs no permission except to write", async ({ start, expect }) => {
    const server = await start(stored, DENIED, DENIED);
    expect(await check(server, "p")).toBeNull();
    expect(server.seen.map(({ method }) => method)).toEqual(["PUT", "GET", "DELETE"]);
  });

  test.for<[string, Answer, string]>([
    ["another content", answer(200, "other"), "has another content"],
    ["nothing", s3Error(404, "NoSuchKey", "No such key"), "is not there"],
  ])("detects a server that stores %s", async ([, second, what], { start, expect }) => {
    const server = await start(stored, second);
    expect(await check(server, "p")).toBe(
      `The test file that was written ${what}: Invalid endpoint`,
    );
  });

  test.for<[Answer, string]>([
    [
      s3Error(403, "InvalidAccessKeyId", "The key does not exist in our records."),
      "InvalidAccessKeyId: The key does not exist in our records: Key ID you provided does not exist",
    ],
    [DENIED, "AccessDenied: Access Denied: Access denied"],
    [
      s3Error(403, "RequestTimeTooSkewed", "The difference is too large."),
      "RequestTimeTooSkewed: The difference is too large: Access denied",
    ],
    [
      s3Error(404, "NoSuchBucket", "The specified bucket does not exist."),
      "NoSuchBucket: The specified bucket does not exist: Bucket is not valid",
    ],
    [
      answer(404, "<html><body>Nothing here</body></html>"),
      "HTTP 404 and a body that is not S3's: Invalid endpoint",
    ],
    [s3Error(503, "SlowDown", "Slow down."), "SlowDown: Slow down: Invalid endpoint"],
  ])("ends in a summary of the storage's error", async ([first, problem], { start, expect }) => {
    expect(await check(await start(first), "p")).toBe(problem);
  });
});
