import { expect, test, vi } from "vitest";
import { namingFailures } from "../../../src/graph-runtime/failed-fetch.ts";

const URL_WITH_SECRETS = "https://user:word@models.test:8443/v1?key=secret";

/** Returns the error of a request that fails with this one, which must be the same object. */
async function failed(error: unknown, input: RequestInfo | URL = URL_WITH_SECRETS): Promise<Error> {
  const request = namingFailures(async () => {
    throw error;
  });
  let caught: unknown;
  try {
    await request(input);
  } catch (thrown) {
    caught = thrown;
  }
  expect(caught).toBe(error);
  return caught as Error;
}

test.for([URL_WITH_SECRETS, new URL(URL_WITH_SECRETS), new Request("https://models.test:8443/v1")])(
  "a failure of the runtime names the address of %s, without what can be secret",
  async (input) => {
    const lost = await failed(new Error("Network connection lost."), input);
    expect(lost.message).toBe("Network connection lost: https://models.test:8443");
    expect(lost.stack).toContain("Error: Network connection lost: https://models.test:8443\n");
    const unexplained = await failed(new Error("internal error; reference = a1b2"));
    expect(unexplained.message).toBe(
      "fetch failed: no host of this name, or no connection that TLS accepts (internal error; reference = a1b2): https://models.test:8443",
    );
  },
);

test("the reason of an abort, and any other error, stay as they are", async () => {
  for (const error of [
    new DOMException("The operation timed out", "TimeoutError"),
    Object.freeze(new Error("The run was cancelled")),
    new TypeError("Invalid URL"),
  ]) {
    const { message, stack } = error;
    const { message: after, stack: stackAfter } = await failed(error);
    expect([after, stackAfter]).toEqual([message, stack]);
  }
  await failed("a text");
  expect((await failed(new Error("Network connection lost."), "no address")).message).toBe(
    "Network connection lost.",
  );
});

test("an answer is passed on", async () => {
  const fetch = vi.fn<typeof globalThis.fetch>(async () => new Response("fine"));
  const init = { method: "POST" };
  expect(await (await namingFailures(fetch)("https://models.test", init)).text()).toBe("fine");
  expect(fetch).toHaveBeenCalledWith("https://models.test", init);
});
