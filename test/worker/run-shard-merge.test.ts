import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, inject, test } from "vitest";
import { leavesOf, metadataLeavesOf } from "../../src/tracing/model/text-leaves.ts";
import { previewOf } from "../../src/tracing/ingest/decode/run-payloads.ts";
import { readAttachments, type RunLeaves } from "../../src/tracing/model/run-row.ts";
import type { Leaf } from "../../src/tracing/model/run-write.ts";
import type { PlacedRun } from "../../src/tracing/query/run-source.ts";
import {
  inShard,
  type Operation,
  payloadText,
  root,
  runAlarms,
  TestStore,
  updateOf,
} from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const LARGE = "x".repeat(70_000);
const START = new Date("2026-03-01T12:00:00Z");

type Fields = Record<string, unknown>;

/** Every member that a client can set, with a few values of each. */
const VALUES: Record<string, readonly unknown[]> = {
  name: ["one", "two"],
  run_type: ["llm", "tool"],
  start_time: ["2026-03-01T12:00:00.000001Z", "2026-03-01T13:00:00Z", "2026-03-03T00:00:00Z"],
  end_time: ["2026-03-01T12:00:05Z", "2026-03-01T14:00:00.5Z"],
  tags: [[], ["a"], ["a", "b", "a"]],
  reference_example_id: ["00000000-0000-4000-8000-000000000001"],
  inputs: [{ a: 1 }, { text: LARGE }, { messages: [{ content: "hi" }] }],
  outputs: [
    { b: 2 },
    { text: LARGE, usage_metadata: { input_tokens: 1, output_tokens: 2 } },
    { generations: [[{ message: { usage_metadata: { input_tokens: 3, output_tokens: 4 } } }]] },
  ],
  events: [[], [{ name: "new_token", time: "2026-03-01T12:00:01Z" }]],
  serialized: [{ s: 1 }, { s: LARGE }],
  error: ["broken", `broken ${LARGE}`],
  attachments: [{ photo: "a photo" }, { photo: "another", document: "a document" }],
};

/** The extras of the create and two updates, which agree in common members. */
const EXTRAS: Fields[] = [
  { metadata: { thread_id: "t", shared: "post", nested: { a: 1, gone: null } }, runtime: { v: 1 } },
  { metadata: { shared: "patch", nested: { b: 2 }, env: null } },
  {
    metadata: {
      env: "prod",
      nested: { a: null },
      usage_metadata: { input_tokens: 40, output_tokens: 2 },
    },
    runtime: { w: [1, null] },
  },
];

const fieldName = fc.constantFrom(...Object.keys(VALUES));

type History = { create: Fields; updates: Fields[] };

/** A create, and updates that have no member in common. */
const histories: fc.Arbitrary<History> = fc
  .record({
    created: fc.uniqueArray(fieldName, { maxLength: 8 }),
    updated: fc.array(fc.tuple(fieldName, fc.nat({ max: 1 })), { maxLength: 10 }),
    choices: fc.array(fc.nat({ max: 5 }), { minLength: 20, maxLength: 20 }),
    extras: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
  })
  .map(({ created, updated, choices, extras }) => {
    const choice = choices.values();
    const valueOf = (name: string): unknown => {
      const values = VALUES[name] ?? [];
      return values[(choice.next().value ?? 0) % values.length];
    };
    const create: Fields = { name: "one", run_type: "llm" };
    for (const name of created) create[name] = valueOf(name);
    const updates: Fields[] = [{}, {}];
    for (const [name, index] of new Map(updated))
      Object.assign(updates[index] ?? {}, { [name]: valueOf(name) });
    for (const [index, fields] of [create, ...updates].entries()) {
      if (extras[index]) fields["extra"] = EXTRAS[index];
    }
    return { create, updates };
  });

/** Each operation at least once, in any order, in any number of requests. */
const schedules = fc
  .record({
    repeats: fc.array(fc.nat({ max: 2 }), { maxLength: 5 }),
    order: fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
    breaks: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  })
  .map(({ repeats, order, breaks }) => {
    const requests: number[][] = [[]];
    for (const [index, operation] of [...repeats, ...order].entries()) {
      requests.at(-1)?.push(operation);
      if (breaks[index]) requests.push([]);
    }
    return requests.filter(({ length }) => length > 0);
  });

function merge(under: unknown, over: unknown): unknown {
  const isObject = (value: unknown): value is Fields =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject(under) || !isObject(over)) return over;
  const merged = { ...under };
  for (const [name, value] of Object.entries(over)) {
    if (value === null && name in merged) continue;
    merged[name] = name in merged ? merge(merged[name], value) : value;
  }
  return merged;
}

/** Merges the operations by their definition: updates over the create. */
function mergedFields({ create, updates }: History): Fields {
  const merged: Fields = { ...create };
  for (const update of updates) {
    for (const [name, value] of Object.entries(update)) {
      const isMerged = name === "extra" || name === "attachments";
      merged[name] = isMerged ? merge(merged[name] ?? {}, value) : value;
    }
  }
  return merged;
}

type Counted = { input_tokens: number; output_tokens: number };

function tokensOf({ run_type, outputs, extra }: Fields): Counted {
  const { metadata } = (extra ?? {}) as { metadata?: { usage_metadata?: Counted } };
  const { usage_metadata, generations } = (outputs ?? {}) as {
    usage_metadata?: Counted;
    generations?: { message: { usage_metadata: Counted } }[][];
  };
  const reported = metadata?.usage_metadata ?? usage_metadata;
  const answered = run_type === "llm" ? generations?.[0]?.[0]?.message.usage_metadata : undefined;
  return reported ?? answered ?? { input_tokens: 0, output_tokens: 0 };
}

function micros(time: unknown): number | null {
  if (typeof time !== "string") return null;
  const [, digits = "0"] = /\.(\d+)Z$/.exec(time) ?? [];
  return Date.parse(time.replace(/\.\d+Z$/, "Z")) * 1000 + Number(digits.padEnd(6, "0"));
}

const PAYLOADS = ["inputs", "outputs", "events", "serialized", "error", "extra"] as const;

function operation(
  kind: Operation["kind"],
  { attachments, ...fields }: Fields,
  bodyOf: (fields: Fields) => object,
): Operation {
  const body = bodyOf(fields);
  if (attachments === undefined) return { kind, body };
  return { kind, body, attachments: attachments as Record<string, string> };
}

/** Returns everything that a reader sees of a run. */
function expectedRun(fields: Fields): Fields {
  const { input_tokens, output_tokens } = tokensOf(fields);
  const { error, end_time, tags, events, extra, start_time } = fields;
  const ended = end_time === undefined ? "pending" : "success";
  const [token] = (events ?? []) as { time: string }[];
  return {
    ...Object.fromEntries(PAYLOADS.map((name) => [name, fields[name] ?? null])),
    name: fields["name"],
    run_type: fields["run_type"],
    start_time: micros(start_time) ?? START.getTime() * 1000,
    end_time: micros(end_time),
    status: error === undefined ? ended : "error",
    errorHead: typeof error === "string" ? error.slice(0, 2000) : null,
    tags: tags ?? null,
    reference_example_id: fields["reference_example_id"] ?? null,
    first_token_time: micros(token?.time),
    attachments: fields["attachments"] ?? {},
    previews: [previewOf(fields["inputs"]), previewOf(fields["outputs"])],
    leaves: [leavesOf(fields["inputs"]), leavesOf(fields["outputs"])],
    tokens: [input_tokens, output_tokens, input_tokens + output_tokens],
    thread_id: metadataLeavesOf(extra).find(([key]) => key === "thread_id")?.[1] ?? null,
    attributes: [
      ...new Set([
        ...((tags ?? []) as string[]).map((tag) => `tag ${tag} `),
        ...metadataLeavesOf(extra).map(([key, value]) => `metadata ${key} ${value}`),
      ]),
    ].toSorted(),
  };
}

async function readRun({ run, ref }: PlacedRun): Promise<Fields> {
  const [stored] = await inShard(ref, (sql) =>
    sql
      .exec<RunLeaves>(
        "SELECT metadata, input_leaves, output_leaves FROM runs WHERE id = ?",
        run.id,
      )
      .toArray(),
  );
  const payloads: Fields = {};
  for (const name of PAYLOADS) {
    payloads[name] = JSON.parse((await payloadText(run, name)) ?? "null");
  }
  const attachments: Fields = {};
  for (const { name, object } of readAttachments(run.attachments)) {
    attachments[name] = await (await env.PAYLOADS.get(object))?.text();
  }
  return {
    ...payloads,
    name: run.name,
    run_type: run.run_type,
    start_time: run.start_time,
    end_time: run.end_time,
    status: run.status,
    errorHead: run.error,
    tags: run.tags === null ? null : JSON.parse(run.tags),
    reference_example_id: run.reference_example_id,
    first_token_time: run.first_token_time,
    attachments,
    previews: [run.inputs_preview, run.outputs_preview],
    leaves: [stored?.input_leaves, stored?.output_leaves].map((text) => JSON.parse(text ?? "[]")),
    tokens: [run.prompt_tokens, run.completion_tokens, run.total_tokens],
    thread_id: run.thread_id,
    attributes: [
      ...new Set<string>([
        ...(JSON.parse(run.tags ?? "[]") as string[]).map((tag) => `tag ${tag} `),
        ...(JSON.parse(stored?.metadata ?? "[]") as Leaf[]).map(
          ([key, value]) => `metadata ${key} ${value}`,
        ),
      ]),
    ].toSorted(),
  };
}

/** Returns the keys of all objects that runs refer to. */
async function referredObjects(store: TestStore): Promise<string[]> {
  const objects: string[] = [];
  for (const { run } of await store.select()) {
    for (const payload of Object.values(run.payloads)) {
      if ("object" in payload) objects.push(payload.object);
    }
    for (const { object } of readAttachments(run.attachments)) objects.push(object);
  }
  return objects;
}

test("a run is the same in any order of its parts, and with any repetitions", async ({
  expect,
}) => {
  const store = new TestStore();
  const property = fc.asyncProperty(histories, schedules, async (history, requests) => {
    const run = root({ start: START });
    const operations = [
      operation("post", history.create, (fields) => ({ ...run, ...fields })),
      ...history.updates.map((fields) =>
        operation("patch", fields, (given) => updateOf(run, given)),
      ),
    ];
    for (const request of requests) {
      expect(await store.send(...request.flatMap((index) => operations[index] ?? []))).toEqual([]);
    }
    const found = await store.select({ traceId: run.id });
    const fields = mergedFields(history);
    expect(await Promise.all(found.map(readRun))).toEqual([expectedRun(fields)]);
  });
  await fc.assert(property, { seed: 20_260_301, numRuns: 150 });

  const shards = await store.shards();
  await runAlarms(shards);
  const referred = new Set(await referredObjects(store));
  const objects = await store.objects();
  expect(objects.filter((object) => !referred.has(object))).toEqual([]);
  expect(objects).toHaveLength(referred.size);
  expect(objects.length).toBeGreaterThan(50);
});
