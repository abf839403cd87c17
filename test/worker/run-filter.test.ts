import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import fc from "fast-check";
import { beforeEach, describe, test } from "vitest";
import { type Sql, sql } from "../../src/db/sql.ts";
import {
  compileFilter,
  compileScopes,
  matchingTracesSql,
  parseFilter,
} from "../../src/tracing/filter/filter.ts";
import { requiredTexts, SEARCHED_TEXT_COLUMNS } from "../../src/tracing/filter/required-texts.ts";
import type { TextRow } from "../../src/tracing/shard/segments/run-segments.ts";
import { TextFilter, textTest } from "../../src/tracing/shard/segments/text-filter.ts";
import { shardObjectName } from "../../src/lib/object-names.ts";
import { SHARD_SCHEMA } from "../../src/tracing/shard/tables.ts";
import { startsWithin } from "../../src/tracing/filter/run-key.ts";
import { evaluate } from "../unit/tracing/filter/model/evaluate.ts";
import { type Expression, expression, print } from "../unit/tracing/filter/model/expressions.ts";
import { flatten, type Run, runs, TRACES, uuid } from "../unit/tracing/filter/model/runs.ts";

let shard = env.RUN_SHARDS.getByName("");

beforeEach(() => {
  const workspaceId = crypto.randomUUID();
  const projectId = crypto.randomUUID();
  shard = env.RUN_SHARDS.getByName(
    shardObjectName({ workspaceId, projectId, day: 500, bucket: 0 }),
  );
});

async function inShard(work: (database: SqlStorage) => void): Promise<void> {
  await runInDurableObject(shard, (_, { storage }) => {
    const made = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'runs'").toArray();
    if (made.length === 0) storage.sql.exec(SHARD_SCHEMA);
    work(storage.sql);
  });
}

function store(database: SqlStorage, given: readonly Run[]): void {
  for (const table of ["runs", "traces", "feedback"]) database.exec(`DELETE FROM ${table}`);
  for (const [seq, run] of given.entries()) {
    const { tags, metadata, inputs, outputs, feedback, ...columns } = run;
    insert(database, "runs", {
      ...columns,
      key: seq,
      dotted_order: run.id,
      tags: tags.length === 0 ? null : JSON.stringify(tags),
      metadata: JSON.stringify(flatten(metadata)),
      input_leaves: JSON.stringify(inputs),
      // A run whose outputs never came has none.
      output_leaves: outputs.length === 0 ? null : JSON.stringify(outputs),
      patched: 0,
      inserted_at: 0,
      received_at: 0,
    });
    insert(database, "traces", {
      trace_id: run.trace_id,
      tier: "shortlived",
      first_received_at: 0,
      first_start: 0,
      last_start: 2 ** 52,
    });
    for (const [index, rating] of feedback.entries()) {
      insert(database, "feedback", {
        ...rating,
        id: `${seq}-${index}`,
        run_id: run.id,
        value: rating.value === null ? null : JSON.stringify(rating.value),
        error: Number(rating.error),
        created_at: 0,
      });
    }
  }
}

function insert(
  database: SqlStorage,
  table: string,
  row: Record<string, string | number | null>,
): void {
  const columns = Object.keys(row);
  database.exec(
    `INSERT OR IGNORE INTO ${table} (${columns.join(", ")})
     VALUES (${columns.map(() => "?").join(", ")})`,
    ...Object.values(row),
  );
}

function idsWhere(database: SqlStorage, condition: Sql): string[] {
  return database
    .exec<{ id: string }>(
      `SELECT r.id FROM runs r WHERE ${condition.text} ORDER BY r.id`,
      ...condition.params,
    )
    .toArray()
    .map((row) => row.id);
}

/** Returns by id the packed texts of each run. */
function packedTexts(database: SqlStorage): Map<string, Uint8Array> {
  const rows = database.exec<{ id: string } & TextRow>(
    `SELECT id, ${SEARCHED_TEXT_COLUMNS.join(", ")} FROM runs`,
  );
  return new Map(
    rows.toArray().map((row) => {
      const filter = new TextFilter();
      for (const column of SEARCHED_TEXT_COLUMNS) filter.add(row[column] ?? "");
      return [row.id, filter.packed() ?? new Uint8Array()];
    }),
  );
}

function plan(database: SqlStorage, query: Sql): string[] {
  return database
    .exec<{ detail: string }>(`EXPLAIN QUERY PLAN ${query.text}`, ...query.params)
    .toArray()
    .map(({ detail }) => detail);
}

/** Returns the ids of traces with a run, or root run, for which the expression holds. */
function tracesOf(
  given: readonly Run[],
  expression: Expression,
  scope: "trace" | "tree",
): string[] {
  const matching = given.filter(
    (run) => (scope === "tree" || run.parent_run_id === null) && evaluate(expression, run),
  );
  return [...new Set(matching.map(({ trace_id }) => trace_id))].toSorted();
}

describe("a compiled filter", () => {
  test("selects the runs for which the expression holds", async ({ expect }) => {
    const seen = { some: 0, all: 0, none: 0 };
    await inShard((database) => {
      const property = fc.property(runs, fc.array(expression, { maxLength: 12 }), (given, all) => {
        store(database, given);
        for (const each of all) {
          const expected = given.filter((run) => evaluate(each, run)).map(({ id }) => id);
          const condition = compileFilter(parseFilter(print(each)), "r");
          expect(idsWhere(database, condition), print(each)).toEqual(expected);
          const share = expected.length / given.length;
          seen[share === 0 ? "none" : share === 1 ? "all" : "some"] += 1;
        }
      });
      fc.assert(property, { seed: 20_260_301, numRuns: 500 });
    });
    // The comparison would be meaningless if every filter selected all runs or none.
    expect(seen.some).toBeGreaterThan(200);
  });

  test("requires no text that a matching run lacks", async ({ expect }) => {
    const seen = { found: 0, leftOut: 0 };
    await inShard((database) => {
      const property = fc.property(runs, fc.array(expression, { maxLength: 12 }), (given, all) => {
        store(database, given);
        const packed = packedTexts(database);
        for (const each of all) {
          const parsed = parseFilter(print(each));
          const required = requiredTexts(parsed);
          if (required === null) continue;
          const holds = textTest(required);
          const mayMatch = [...packed].filter(([, bits]) => holds(bits)).map(([id]) => id);
          const matching = idsWhere(database, compileFilter(parsed, "r"));
          expect(mayMatch, print(each)).toEqual(expect.arrayContaining(matching));
          seen.found += matching.length;
          seen.leftOut += given.length - mayMatch.length;
        }
      });
      fc.assert(property, { seed: 20_261_101, numRuns: 500 });
    });
    // The comparison would be meaningless if nothing were found, or nothing left out.
    expect(seen.found).toBeGreaterThan(100);
    expect(seen.leftOut).toBeGreaterThan(1000);
  });

  test("combines the run's own filter with those of its trace", async ({ expect }) => {
    const given = fc.record({
      stored: runs,
      filter: fc.option(expression),
      traceFilter: fc.option(expression),
      treeFilter: fc.option(expression),
      known: fc.record({ trace: fc.subarray(TRACES), tree: fc.subarray(TRACES) }),
    });
    await inShard((database) => {
      const property = fc.property(given, ({ stored, known, ...scopes }) => {
        store(database, stored);
        const { filter, traceFilter, treeFilter } = scopes;
        const texts = {
          filter: filter === null ? undefined : print(filter),
          traceFilter: traceFilter === null ? undefined : print(traceFilter),
          treeFilter: treeFilter === null ? undefined : print(treeFilter),
        };
        const among = (scope: "trace" | "tree", each: Expression | null): string[] =>
          each === null ? TRACES : [...tracesOf(stored, each, scope), ...known[scope]];
        const roots = among("trace", traceFilter);
        const trees = among("tree", treeFilter);
        const expected = stored
          .filter((run) => filter === null || evaluate(filter, run))
          .filter((run) => roots.includes(run.trace_id) && trees.includes(run.trace_id))
          .map(({ id }) => id);
        const what = JSON.stringify({ ...texts, known }, null, 2);
        const condition = compileScopes(texts, "r", known);
        expect(idsWhere(database, condition), what).toEqual(expected);
      });
      fc.assert(property, { seed: 20_260_302, numRuns: 500 });
    });
  });

  test("lists the traces that fulfil a scope in this shard", async ({ expect }) => {
    const scope = fc.constantFrom("trace" as const, "tree" as const);
    await inShard((database) => {
      const property = fc.property(
        runs,
        scope,
        expression,
        fc.subarray(TRACES),
        (stored, scope, each, asked) => {
          store(database, stored);
          const expected = tracesOf(stored, each, scope).filter((id) => asked.includes(id));
          const { text, params } = matchingTracesSql(scope, print(each), asked);
          const rows = database.exec<{ trace_id: string }>(text, ...params).toArray();
          const actual = rows.map(({ trace_id }) => trace_id).toSorted();
          expect(actual, print(each)).toEqual(expected);
        },
      );
      fc.assert(property, { seed: 20_260_303, numRuns: 300 });
    });
  });

  test("holds for every run if there is no scope", ({ expect }) => {
    expect(compileScopes({ filter: undefined }, "r")).toEqual({ text: "1", params: [] });
  });
});

describe("the largest filters", () => {
  const nested = (operator: (level: number) => string, siblings: string): string =>
    Array.from({ length: 29 }).reduce<string>(
      (inner, _, level) => `${operator(level)}(${inner}${siblings})`,
      "eq(is_root, true)",
    );
  const times = (text: string, count: number): string =>
    Array.from({ length: count }, () => text).join(", ");
  const words = Array.from({ length: 32 }, (_, n) => `word${n}`).join(" ");
  const tail = "y".repeat(50);
  const run: Run = {
    id: uuid(1),
    trace_id: uuid(1),
    parent_run_id: null,
    reference_example_id: null,
    thread_id: null,
    name: `x-${tail}${"a".repeat(4_000)}${"y".repeat(4_000)}`,
    run_type: "llm",
    status: "success",
    start_time: 0,
    end_time: 0,
    first_token_time: null,
    error: null,
    total_tokens: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    total_cost: null,
    prompt_cost: null,
    completion_cost: null,
    tags: ["beta"],
    metadata: { env: "prod" },
    inputs: [["messages.content", words.slice(20)]],
    outputs: [["messages.content", `xxy ${words.slice(0, 40)}`]],
    feedback: [],
  };

  test.for<[what: string, text: string, selects: boolean]>([
    [
      "nested and wide",
      nested((n) => (n % 2 ? "and" : "or"), ", eq(error, null)".repeat(20)),
      true,
    ],
    ["nested negations", nested(() => "not", ""), false],
    ["tests of entries", `or(${times("neq(metadata_value, null)", 180)})`, true],
    ["as many values as fit", `and(${times('like(outputs, "xxy_%")', 80)})`, true],
    ["long patterns", `and(${times(`like(name, "X_${tail}%")`, 35)})`, true],
    ["as many wildcards as fit", `like(name, "%${"a_%".repeat(332)}b")`, false],
    ["wildcards that match everywhere but once", `like(name, "%${"y_".repeat(100)}z%")`, false],
    ["many words", `search("${words}")`, true],
    ["a long list", `in(id, [${times(`"${uuid(2)}"`, 1200)}])`, false],
  ])("run: %s", async ([, text, selects], { expect }) => {
    await inShard((database) => {
      store(database, [run]);
      for (const scope of ["filter", "traceFilter", "treeFilter"]) {
        const condition = compileScopes({ [scope]: text }, "r");
        expect(idsWhere(database, condition)).toEqual(selects ? [run.id] : []);
      }
    });
  });
});

describe("a query plan", () => {
  const ordered = (text: string): Sql => {
    const { text: condition, params } = compileFilter(parseFilter(text), "r");
    return sql(
      `SELECT r.id FROM runs r WHERE ${condition} ORDER BY r.start_time DESC, r.id DESC`,
      ...params,
    );
  };

  test("reads a segment from one bound to the other, and sorts its results", async ({ expect }) => {
    const pair = 'and(eq(metadata_key, "env"), eq(metadata_value, "prod"))';
    const has = 'has(metadata, \'{"env":"prod"}\')';
    await inShard((database) => {
      for (const filter of ['eq(name, "agent")', 'eq(status, "error")', pair, has]) {
        const { text, params } = compileFilter(parseFilter(filter), "r");
        const query = sql(
          `SELECT r.id FROM runs r WHERE ${startsWithin("r", 1, 2)} AND ${text}
           ORDER BY r.start_time, r.id`,
          ...params,
        );
        expect(plan(database, query)).toEqual([
          "SEARCH r USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
          "USE TEMP B-TREE FOR ORDER BY",
        ]);
      }
    });
  });

  test("reads the entries of a run, with any condition on them", async ({ expect }) => {
    await inShard((database) => {
      const steps = plan(
        database,
        ordered('and(like(metadata_value, "p%"), gt(feedback_score, 0), like(inputs, "%a%"))'),
      );
      expect(steps.filter((step) => /^(SCAN|SEARCH)/.test(step))).toEqual([
        "SCAN r",
        "SCAN CONSTANT ROW",
        "SCAN sought",
        "SCAN leaf VIRTUAL TABLE INDEX 1:",
        "SEARCH rating EXISTS USING INDEX feedback_by_run (run_id=?)",
        "SCAN leaf EXISTS VIRTUAL TABLE INDEX 1:",
      ]);
    });
  });

  test("reads the runs of traces by their start", async ({ expect }) => {
    await inShard((database) => {
      const span = { from: 1, to: 2 };
      const { text, params } = compileScopes({ treeFilter: 'eq(name, "a")' }, "r", undefined, span);
      const query = sql(`SELECT r.id FROM runs r WHERE ${text}`, ...params);
      const steps = plan(database, query).join("\n");
      expect(steps).toContain("SEARCH spread USING PRIMARY KEY (trace_id=?)");
      expect(steps).toContain("SEARCH scoped USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)");
    });
  });
});
