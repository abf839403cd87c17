import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, describe, inject, test, vi } from "vitest";
import { insertModelPrice } from "../../src/db/model-prices-repo.ts";
import type { RunData } from "../support/trace-data.ts";
import { child, type Operation, root, TestStore, updateOf } from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const NOON = new Date("2026-03-01T12:00:00Z");
const DAY_MS = 86_400_000;

type Usage = {
  input_tokens?: number;
  output_tokens?: number;
  total_cost?: number;
  input_cost?: number;
  input_token_details?: Record<string, number>;
};

/** The fields of a run, with its parent's index in the list before it. */
type Node = {
  parent: number;
  type: "llm" | "chain" | "tool";
  daysLater: number;
  usage: Usage | null;
  later: Usage | null;
};

type Totals = {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_cost: number | null;
  total_cost: number | null;
  details: Record<string, number>;
};

const PICODOLLARS = 1e12;

const usages: fc.Arbitrary<Usage> = fc.record(
  {
    input_tokens: fc.nat({ max: 9 }),
    output_tokens: fc.nat({ max: 9 }),
    total_cost: fc.constantFrom(0, 0.25, 0.5),
    input_cost: fc.constantFrom(0.125),
    input_token_details: fc.dictionary(fc.constantFrom("audio", "cache_read"), fc.nat({ max: 5 })),
  },
  { requiredKeys: ["output_tokens"] },
);

const nodes: fc.Arbitrary<Node[]> = fc.array(
  fc.record({
    parent: fc.nat({ max: 20 }),
    type: fc.constantFrom("llm", "chain", "tool"),
    daysLater: fc.constantFrom(0, 0, 1),
    usage: fc.option(usages),
    later: fc.option(usages),
  }),
  { minLength: 1, maxLength: 9 },
);

/** Returns a trace of these runs; each starts on its parent's day, or later. */
function traceOf(nodes: readonly Node[]): RunData[] {
  const runs: RunData[] = [];
  const starts: Date[] = [];
  for (const [index, { parent, type, daysLater }] of nodes.entries()) {
    const above = index === 0 ? undefined : parent % index;
    const start = new Date((starts[above ?? -1] ?? NOON).getTime() + daysLater * DAY_MS + index);
    starts.push(start);
    const over = runs[above ?? -1];
    const options = { start, run_type: type };
    runs.push(over === undefined ? root(options) : child(over, options));
  }
  return runs;
}

const NOTHING: Totals = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  prompt_cost: null,
  total_cost: null,
  details: {},
};

function ownTotals(usage: Usage): Totals {
  const { input_tokens = 0, output_tokens = 0, total_cost, input_cost } = usage;
  const toPico = (usd: number | undefined) => (usd === undefined ? null : usd * PICODOLLARS);
  return {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens: input_tokens + output_tokens,
    prompt_cost: toPico(input_cost),
    total_cost: toPico(total_cost ?? input_cost),
    details: usage.input_token_details ?? {},
  };
}

function add(left: Totals, right: Totals): Totals {
  const addCost = (one: number | null, other: number | null) =>
    one === null ? other : one + (other ?? 0);
  const details = { ...left.details };
  for (const [name, n] of Object.entries(right.details)) details[name] = (details[name] ?? 0) + n;
  return {
    prompt_tokens: left.prompt_tokens + right.prompt_tokens,
    completion_tokens: left.completion_tokens + right.completion_tokens,
    total_tokens: left.total_tokens + right.total_tokens,
    prompt_cost: addCost(left.prompt_cost, right.prompt_cost),
    total_cost: addCost(left.total_cost, right.total_cost),
    details,
  };
}

/** Returns a model's own report, or otherwise the run's own amounts and those below it. */
function expectedTotals(nodes: readonly Node[], at: number): Totals {
  const node = nodes[at];
  const usage = node?.later ?? node?.usage ?? null;
  const own = usage === null ? NOTHING : ownTotals(usage);
  if (usage !== null && node?.type === "llm") return own;
  return nodes
    .map((other, index) => ({ index, parent: index === 0 ? -1 : other.parent % index }))
    .filter(({ parent }) => parent === at)
    .map(({ index }) => expectedTotals(nodes, index))
    .reduce(add, own);
}

async function storedTotals(store: TestStore, id: string): Promise<Totals> {
  const run = await store.run(id);
  const { prompt_tokens, completion_tokens, total_tokens, prompt_cost, total_cost } = run;
  const details = JSON.parse(run.prompt_token_details ?? "{}");
  return { prompt_tokens, completion_tokens, total_tokens, prompt_cost, total_cost, details };
}

test("totals are those of the tree, in any order of its runs, and over midnights", async ({
  expect,
}) => {
  const store = new TestStore();
  const property = fc.asyncProperty(
    nodes,
    fc.infiniteStream(fc.nat({ max: 1000 })),
    async (nodes, choices) => {
      const runs = traceOf(nodes);
      const operations: Operation[] = [];
      for (const [index, run] of runs.entries()) {
        const { usage, later } = nodes[index] ?? {};
        const outputs = usage ? { usage_metadata: usage } : {};
        operations.push({ kind: "post", body: { ...run, outputs } });
        const metadata = later ? { usage_metadata: later } : {};
        operations.push({ kind: "patch", body: updateOf(run, { extra: { metadata } }) });
      }
      const shuffled = operations
        .concat(operations.slice(0, 4))
        .map((operation) => ({ operation, rank: choices.next().value }))
        .toSorted((left, right) => left.rank - right.rank)
        .map(({ operation }) => operation);
      while (shuffled.length > 0) {
        const some = shuffled.splice(0, 1 + (choices.next().value % 6));
        expect(await store.send(...some)).toEqual([]);
      }
      const expected = runs.map((_, index) => expectedTotals(nodes, index));
      await vi.waitFor(
        async () => {
          const stored = await Promise.all(runs.map(({ id }) => storedTotals(store, id)));
          expect(stored).toEqual(expected);
        },
        { timeout: 150_000, interval: 20 },
      );
    },
  );
  await fc.assert(property, { seed: 20_260_302, numRuns: 200 });
});

describe("the amounts of a run", () => {
  test("are a model's own report, even if it calls another model", async ({ expect }) => {
    const store = new TestStore();
    const outer = root({ start: NOON, run_type: "llm" });
    const inner = child(outer, {
      start: NOON,
      run_type: "llm",
      outputs: { usage_metadata: { input_tokens: 5, output_tokens: 1 } },
    });
    await store.post(inner, outer);
    expect(await storedTotals(store, outer.id)).toMatchObject({ total_tokens: 6 });
    const generations = [[{ message: { usage_metadata: { input_tokens: 7, output_tokens: 1 } } }]];
    await store.patch(updateOf(outer, { outputs: { generations } }));
    expect(await storedTotals(store, outer.id)).toMatchObject({ total_tokens: 8 });
    await store.patch(updateOf(outer, { outputs: {} }));
    expect(await storedTotals(store, outer.id)).toMatchObject({ total_tokens: 6 });
  });

  test("do not count twice what a chain repeats of its model", async ({ expect }) => {
    const store = new TestStore();
    const message = { usage_metadata: { input_tokens: 5, output_tokens: 1 } };
    const chain = root({ start: NOON, outputs: { messages: [message] } });
    const model = child(chain, {
      start: NOON,
      run_type: "llm",
      outputs: { generations: [[{ message }]] },
    });
    await store.post(chain);
    expect(await storedTotals(store, chain.id)).toEqual(NOTHING);
    await store.post(model);
    expect(await storedTotals(store, chain.id)).toMatchObject({ total_tokens: 6 });
    await store.patch(updateOf(chain, { run_type: "llm" }));
    await store.patch(updateOf(model, { run_type: "tool" }));
    expect(await storedTotals(store, chain.id)).toMatchObject({ total_tokens: 6 });
    expect(await storedTotals(store, model.id)).toEqual(NOTHING);
  });

  test("are added for any run that reports them itself", async ({ expect }) => {
    const store = new TestStore();
    const chain = root({ start: NOON });
    const reports = (cost: number) => ({ outputs: { usage_metadata: { total_cost: cost } } });
    const tool = child(chain, { start: NOON, run_type: "tool", ...reports(0.001) });
    const retriever = child(tool, { start: NOON, run_type: "retriever", ...reports(0.02) });
    await store.post(chain, retriever, tool);
    expect(await storedTotals(store, tool.id)).toMatchObject({ total_cost: 0.021 * PICODOLLARS });
    await store.patch(updateOf(retriever, reports(0)));
    expect(await storedTotals(store, chain.id)).toMatchObject({ total_cost: 0.001 * PICODOLLARS });
  });

  test("have no costs again when the only run with a cost removes it", async ({ expect }) => {
    const store = new TestStore();
    const chain = root({ start: NOON });
    const outputs = { usage_metadata: { total_cost: 0.5 } };
    const tool = child(chain, { start: NOON, run_type: "tool", outputs });
    await store.post(chain, tool);
    expect(await storedTotals(store, chain.id)).toMatchObject({ total_cost: 0.5 * PICODOLLARS });
    await store.patch(updateOf(tool, { outputs: {} }));
    expect(await storedTotals(store, chain.id)).toEqual(NOTHING);
  });

  test("are priced by the built-in list, with each category at its own price", async ({
    expect,
  }) => {
    const store = new TestStore();
    const usage = (usage_metadata: object) => ({
      generations: [[{ message: { usage_metadata } }]],
    });
    const extra = { metadata: { ls_model_name: "gpt-4o-mini", ls_provider: "openai" } };
    const run = root({ start: NOON, run_type: "llm", extra });
    await store.post({ ...run, outputs: usage({ input_tokens: 2000, output_tokens: 100 }) });
    expect(await store.run(run.id)).toMatchObject({
      prompt_cost: 2000 * 0.15e6,
      completion_cost: 100 * 0.6e6,
      total_cost: 360e6,
      price_model_id: expect.stringContaining("-"),
    });
    const cached = { input_tokens: 2000, input_token_details: { cache_read: 1000 } };
    await store.patch(updateOf(run, { outputs: usage(cached) }));
    const { total_cost, prompt_cost_details } = await store.run(run.id);
    expect([total_cost, JSON.parse(prompt_cost_details ?? "")]).toEqual([
      1000 * 0.15e6 + 1000 * 0.075e6,
      { cache_read: 1000 * 0.075e6 },
    ]);
  });

  test("are priced at the run's start, however late that is reported", async ({ expect }) => {
    const store = new TestStore();
    await insertModelPrice(env.DB, {
      id: crypto.randomUUID(),
      workspace_id: store.workspaceId,
      name: "House",
      match_pattern: "^house$",
      match_path: '["model"]',
      provider: null,
      start_time: NOON.getTime(),
      prompt_cost: "0.5",
      completion_cost: "0.25",
      prompt_cost_details: null,
      completion_cost_details: null,
      created_at: 0,
    });
    const early = new Date(NOON.getTime() - 1);
    const run = root({ start: early, run_type: "llm", start_time: NOON.toISOString() });
    const fields = {
      run_type: "llm",
      extra: { metadata: { ls_model_name: "house" } },
      outputs: { usage_metadata: { input_tokens: 3, output_tokens: 2 } },
    };
    await store.patch(updateOf(run, fields));
    expect(await store.run(run.id)).toMatchObject({ total_cost: null, total_tokens: 5 });
    await store.post(run);
    expect(await store.run(run.id)).toMatchObject({ total_cost: 2 * PICODOLLARS, total_tokens: 5 });
  });

  test.for([
    ["on one day", NOON],
    ["on two days", new Date(NOON.getTime() + DAY_MS)],
  ] as const)(
    "are unchanged below runs that are each other's parents, %s",
    async ([, start], { expect }) => {
      const store = new TestStore();
      const [left, right] = [root({ start: NOON }), root({ start })];
      const outputs = { usage_metadata: { input_tokens: 1e12 } };
      const below = (run: RunData, parent: RunData) => ({
        ...child(parent, { id: run.id, start: new Date(run.start_time), run_type: "tool" }),
        outputs,
      });
      const alone = root({ start: NOON, run_type: "tool" });
      const order = `${alone.dotted_order}.${alone.dotted_order}`;
      await store.post({ ...alone, parent_run_id: alone.id, dotted_order: order, outputs });
      for (const _ of [1, 2, 3]) await store.post(below(left, right), below(right, left));
      await store.settle();
      const tokens = (await store.select()).map(({ run }) => run.total_tokens);
      expect(tokens).toHaveLength(3);
      for (const count of tokens) expect([1e12, 2e12]).toContain(count);
    },
  );

  test("stop at the largest exact number", async ({ expect }) => {
    const store = new TestStore();
    const parent = root({ start: NOON });
    const usage_metadata = { total_cost: 9000, input_token_details: { audio: 1e12 } };
    const children = Array.from({ length: 1100 }, () =>
      child(parent, { start: NOON, run_type: "llm", outputs: { usage_metadata } }),
    );
    expect(await store.post(parent, ...children)).toEqual([]);
    expect(await store.run(parent.id)).toMatchObject({ total_cost: Number.MAX_SAFE_INTEGER });
  });
});
