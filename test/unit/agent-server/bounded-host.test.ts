import { afterEach, beforeEach, describe, test, vi } from "vitest";
import { boundedHost } from "../../../src/agent-server/bounded-host.ts";
import type { GraphHostApi } from "../../../src/graph-runtime/protocol.ts";

const LIMIT_MS = 30_000;

/** A host whose calls never end. */
const silent = new Proxy({} as GraphHostApi, { get: () => () => new Promise(() => {}) });

const request = {} as never;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

async function afterLimit<T>(call: (host: GraphHostApi) => Promise<T>): Promise<T> {
  const called = call(boundedHost(silent, LIMIT_MS));
  called.catch(() => {});
  await vi.advanceTimersByTimeAsync(LIMIT_MS);
  return called;
}

describe("boundedHost", () => {
  test.for<[what: string, call: (host: GraphHostApi) => Promise<unknown>]>([
    ["read the state", (host) => host.getState(request, request)],
    ["read the history", (host) => host.getHistory(request, request)],
    ["update the state", (host) => host.updateState(request, request)],
    ["draw the graph", (host) => host.drawGraph(request)],
    ["return the graph's schemas", (host) => host.schemas(request)],
    ["return the graph's subgraphs", (host) => host.subgraphs(request)],
  ])("refuses a call that does not %s in time", async ([what, call], { expect }) => {
    expect(await afterLimit(call)).toEqual({
      ok: false,
      code: "graph_late",
      message: `The project's code did not ${what} within 30 seconds`,
    });
  });

  test.for<[what: string, call: (host: GraphHostApi) => Promise<unknown>]>([
    ["describe itself", (host) => host.describe()],
    ["check its graphs", (host) => host.check()],
    ["authenticate the request", (host) => host.authenticate(request)],
    ["authorize the request", (host) => host.authorize(request)],
  ])("fails a call that does not %s in time", async ([what, call], { expect }) => {
    await expect(afterLimit(call)).rejects.toMatchObject({
      code: "timed_out",
      message: `The project's code did not ${what} within 30 seconds`,
    });
  });

  test("does not limit the time of a run", async ({ expect }) => {
    const run = boundedHost(silent, LIMIT_MS).run(request, request);
    const waited = vi.advanceTimersByTimeAsync(10 * LIMIT_MS).then(() => "waited");
    expect(await Promise.race([run, waited])).toBe("waited");
  });

  test("returns and throws what the host does", async ({ expect }) => {
    const answer = { ok: false, code: "graph_failed", message: "no" };
    const host = {
      describe: async () => {
        throw new Error("broken");
      },
      schemas: async () => answer,
    } as unknown as GraphHostApi;
    const bounded = boundedHost(host, LIMIT_MS);
    await expect(bounded.describe()).rejects.toThrow("broken");
    expect(await bounded.schemas(request)).toEqual(answer);
    expect(vi.getTimerCount()).toBe(0);
  });
});
