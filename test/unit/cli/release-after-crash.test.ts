import { describe, expect, test, vi } from "vitest";
import { releaseAfterCrash } from "../../../cli/platform/release-after-crash.ts";

/** Returns a release that fails this many times before it works. */
function setUp(failures: number) {
  const warnings: string[] = [];
  let left = failures;
  const release = vi.fn<() => Promise<void>>(async () => {
    left -= 1;
    if (left >= 0) throw new Error("fetch failed");
  });
  const ended = new AbortController();
  const done = releaseAfterCrash({
    release,
    signal: ended.signal,
    warn: (message) => warnings.push(message),
    firstDelayMs: 1,
  });
  return { done, release, ended, warnings };
}

describe("the claim of a crashed Worker", () => {
  test("is released after retries", async () => {
    const { done, release, warnings } = setUp(2);
    await done;
    expect(release).toHaveBeenCalledTimes(3);
    expect(warnings).toEqual([]);
  });

  test("causes one warning if that takes long", async () => {
    const { done, release, warnings } = setUp(6);
    await done;
    expect(release).toHaveBeenCalledTimes(7);
    expect(warnings).toEqual([
      "the leases of the former Worker are not released yet: fetch failed",
    ]);
  });

  test("is not released after the end", async () => {
    const { done, release, ended } = setUp(Infinity);
    await vi.waitFor(() => expect(release).toHaveBeenCalled(), 60_000);
    ended.abort();
    await done;
    const calls = release.mock.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(release).toHaveBeenCalledTimes(calls);
  });
});
