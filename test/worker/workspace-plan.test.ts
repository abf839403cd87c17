import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, inject, test, vi } from "vitest";
import type { Plan } from "../../src/lib/plan-order.ts";
import { workspacePlan } from "../../src/identity/workspace-plan.ts";
import { migrateIndex } from "./support.ts";

const MINUTE = 60_000;
const GRACE = 3 * 86_400_000;
const NOW = 1_800_000_000_000;

const EU: Env & { REGION_SECRET: string } = {
  ...env,
  REGION: "eu",
  BILLING_URL: "https://us.test/",
  PLAN_GRACE_SECONDS: String(GRACE / 1000),
  LOG_LEVEL: "error",
  REGION_SECRET: "a secret of both regions",
};

let workspace = "";

/** A mock of the US region's billing, which counts its calls. */
const billing = vi.fn<(url: string, headers: Headers) => Promise<Response>>();

beforeAll(() => migrateIndex(inject("migrations")));

beforeEach(() => {
  workspace = crypto.randomUUID();
  billing.mockReset();
  vi.stubGlobal("fetch", (url: string, init: RequestInit) =>
    billing(url, new Headers(init.headers)),
  );
  vi.spyOn(console, "error").mockImplementation(() => {});
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function answers(plan: string, id = workspace): void {
  billing.mockImplementation(async () => Response.json({ workspace_id: id, plan }));
}

function isDown(): void {
  billing.mockRejectedValue(new Error("connection refused"));
}

type PlanOf = (now: number, id?: string, changes?: Partial<Env>) => Promise<Plan>;

/** Returns the function of a new isolate, with an empty cache. */
async function newIsolate(): Promise<PlanOf> {
  vi.resetModules();
  const { workspacePlan } = await import("../../src/identity/workspace-plan.ts");
  return (now, id = workspace, changes = {}) => workspacePlan({ ...EU, ...changes }, id, now);
}

async function planAt(now: number): Promise<Plan> {
  const planOf = await newIsolate();
  return planOf(now);
}

describe("in the US region a plan", () => {
  test("is the billed one, or else the lowest, without a call", async ({ expect }) => {
    const US: Env = { ...env, REGION: "us" };
    expect(await workspacePlan(US, workspace)).toBe("developer");
    await env.DB.prepare(
      "INSERT INTO billing_plans (workspace_id, region, plan, created_at, updated_at) VALUES (?, 'us', 'plus', 1, 1)",
    )
      .bind(workspace)
      .run();
    expect(await workspacePlan(US, workspace)).toBe("plus");
    expect(billing).not.toHaveBeenCalled();
  });
});

describe("in the EU region a plan", () => {
  test("is requested from the US region by a signed call", async ({ expect }) => {
    answers("enterprise");
    expect(await planAt(NOW)).toBe("enterprise");
    const [url, headers] = billing.mock.calls[0] ?? [];
    expect(url).toBe(`https://us.test/api/v1/internal/plans/${workspace}`);
    expect(headers?.get("x-threadworks-signature")).toMatch(/^[\w-]{43}$/);
  });

  test("is requested once a minute", async ({ expect }) => {
    answers("plus");
    await planAt(NOW);
    answers("developer");
    expect(await planAt(NOW + MINUTE - 1)).toBe("plus");
    expect(await planAt(NOW + MINUTE)).toBe("developer");
    expect(billing).toHaveBeenCalledTimes(2);
  });

  test("is cached by an isolate without a read of the database", async ({ expect }) => {
    answers("plus");
    const planOf = await newIsolate();
    expect(await planOf(NOW)).toBe("plus");
    const DB = new Proxy(env.DB, {
      get: () => {
        throw new Error("no database");
      },
    });
    expect(await planOf(NOW + MINUTE - 1, workspace, { DB })).toBe("plus");
  });

  test("is the last known one while the US region is down, and then the lowest", async ({
    expect,
  }) => {
    answers("enterprise");
    await planAt(NOW);
    isDown();
    expect(await planAt(NOW + MINUTE)).toBe("enterprise");
    expect(await planAt(NOW + GRACE)).toBe("enterprise");
    expect(await planAt(NOW + GRACE + 1)).toBe("developer");
    answers("plus");
    expect(await planAt(NOW + GRACE + 2)).toBe("plus");
  });

  test("is the lowest if the US region never answered for the workspace", async ({ expect }) => {
    isDown();
    expect(await planAt(NOW)).toBe("developer");
  });

  test("is not requested within ten seconds of a failed call, for any workspace", async ({
    expect,
  }) => {
    answers("plus");
    await planAt(NOW);
    isDown();
    const planOf = await newIsolate();
    await planOf(NOW + MINUTE, crypto.randomUUID());
    answers("enterprise");
    expect(await planOf(NOW + MINUTE + 9_999)).toBe("plus");
    expect(await planOf(NOW + MINUTE + 10_000)).toBe("enterprise");
  });

  test.for([
    ["an error", () => new Response("no", { status: 500 })],
    ["a refusal", () => Response.json({ detail: "not signed" }, { status: 401 })],
    ["another place", () => Response.redirect("https://elsewhere.test/", 302)],
    ["no JSON", () => new Response("plus")],
    ["an unknown plan", () => Response.json({ workspace_id: workspace, plan: "gold" })],
    ["another workspace", () => Response.json({ workspace_id: "other", plan: "enterprise" })],
  ] as const)("is not changed by %s", async ([, answer], { expect }) => {
    answers("plus");
    await planAt(NOW);
    billing.mockImplementation(async () => answer());
    expect(await planAt(NOW + MINUTE)).toBe("plus");
  });
});
