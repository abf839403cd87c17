import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { deployRevision } from "../../src/control-plane/deployments/rollout/deploy.ts";
import { CODE_UNAVAILABLE } from "../../src/revision-host/load-revision.ts";
import { ProjectFailure } from "../../src/control-plane/deployments/rollout/project-failure.ts";

type Host = { describe: () => unknown; check: () => unknown; schemas: () => unknown };

const REF = { workspaceId: "w", deploymentId: "d", revisionId: "r" };

const described = (graphs: number, description: string | null = null) => ({
  graphs: Array.from({ length: graphs }, (_, index) => ({ graph_id: `g${index}`, description })),
  langgraph_version: "1",
  auth: null,
});

const GOOD: Host = {
  describe: () => described(1),
  check: () => [],
  schemas: () => ({ ok: true, value: {} }),
};

const never = () => new Promise(() => {});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Deploys a revision whose code is `host`. */
async function deploy(host: Partial<Host>, checkLease = () => {}) {
  const warnings: string[] = [];
  const logs = {
    info: () => {},
    warn: (message: string) => void warnings.push(message),
    deploy: () => {},
  };
  const given = { ...GOOD, ...host };
  const calls = Object.entries(given).map(([name, call]) => [name, async () => call()]);
  const entrypoint = Object.fromEntries(calls) as object;
  const env = { LOADER: { get: () => ({ getEntrypoint: () => entrypoint }) } };
  const exports = {} as Cloudflare.Exports;
  const deployed = deployRevision(env as unknown as Env, exports, REF, { logs, check: checkLease });
  const ended = deployed.then(
    (graphs) => ({ graphs, error: null }),
    (error: unknown) => ({ graphs: null, error }),
  );
  await vi.advanceTimersByTimeAsync(600_000);
  return { ...(await ended), warnings };
}

async function failure(host: Partial<Host>): Promise<string> {
  const { error } = await deploy(host);
  expect(error).toBeInstanceOf(ProjectFailure);
  return (error as Error).message;
}

describe("deployRevision", () => {
  test("checks its lease before it reads the next graph", async () => {
    const checkLease = vi.fn<() => void>();
    const { graphs } = await deploy({ describe: () => described(3) }, checkLease);
    expect(JSON.parse(graphs ?? "")).toHaveLength(3);
    expect(checkLease).toHaveBeenCalledTimes(5);
  });

  test("ends at once when the lease is lost", async () => {
    const lost = new Error("lost");
    const check = vi.fn<() => unknown>(() => []);
    const checkLease = () => {
      throw lost;
    };
    expect((await deploy({ check }, checkLease)).error).toBe(lost);
    expect(check).not.toHaveBeenCalled();
  });

  test("does not wait for code that hangs", async () => {
    for (const name of ["describe", "check", "schemas"] as const) {
      expect(await failure({ [name]: never })).toBe(
        `The revision did not answer "${name}" within 20 seconds`,
      );
    }
  });

  test("does not wait for many graphs that are slow one by one", async () => {
    const slow = () =>
      new Promise((resolve) => setTimeout(resolve, 15_000, { ok: true, value: {} }));
    const message = await failure({ describe: () => described(1000), schemas: slow });
    expect(message).toMatch(/^The revision did not (start|answer "schemas") within \d+ seconds$/);
  });

  test("does not treat a failure of the platform as one of the project", async () => {
    for (const mark of [{ retryable: true }, { overloaded: true }, { code: CODE_UNAVAILABLE }]) {
      const failed = Object.assign(new Error("internal error"), mark);
      expect((await deploy({ describe: () => Promise.reject(failed) })).error).toBe(failed);
    }
    const thrown = new Error("of the project");
    expect(await failure({ describe: () => Promise.reject(thrown) })).toBe(
      "The revision does not start: of the project",
    );
  });

  test.for([
    ["describe", null],
    ["describe", { graphs: "many", auth: null }],
    ["describe", described(600, "x".repeat(1000))],
    ["check", null],
    ["check", [{ graph_id: "g", message: 5 }]],
    ["schemas", null],
    ["schemas", "ok"],
    ["schemas", { ok: 1 }],
    ["schemas", { ok: false, message: {} }],
  ] as const)(
    "treats an invalid answer as a failure of the project: %s %#",
    async ([name, answer]) => {
      expect(await failure({ [name]: () => answer })).toContain("describes itself wrongly");
    },
  );

  test("reports as many problems as can be stored", async () => {
    const problem = { graph_id: "g", message: "wrong ".repeat(100_000) };
    const message = await failure({ check: () => [problem, problem, problem] });
    expect(message).toHaveLength(10_000);
  });

  test("warns about a graph without schemas, and deploys", async () => {
    const { graphs, warnings } = await deploy({
      schemas: () => ({ ok: false, code: "graph_failed", message: "needs a user" }),
    });
    expect(graphs).toBe('[{"graph_id":"g0","description":null}]');
    expect(warnings).toEqual(["Graph g0 has no schemas without a request: needs a user"]);
  });
});
