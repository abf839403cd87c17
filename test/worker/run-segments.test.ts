import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import fc from "fast-check";
import { assert, test } from "vitest";
import { termsOfRun } from "../../src/tracing/filter/run-terms.ts";
import { SEARCHED_TEXT_COLUMNS } from "../../src/tracing/filter/required-texts.ts";
import {
  type RequiredTerms,
  RunSegments,
  type StartRange,
  type TextRow,
} from "../../src/tracing/shard/segments/run-segments.ts";
import { textTest } from "../../src/tracing/shard/segments/text-filter.ts";
import { SHARD_SCHEMA } from "../../src/tracing/shard/tables.ts";

/** So small that a few runs fill several segments, and some are too large for a row. */
const LIMITS = { runs: 4, mostRuns: 9, open: 2, idsBytes: 48 };

type Entered = Parameters<RunSegments["add"]>[0] & TextRow;

const writes = fc.record({
  id: fc.nat({ max: 60 }),
  start: fc.nat({ max: 40 }),
  moves: fc.nat({ max: 5 }).map((n) => n === 0),
  name: fc.constantFrom("a", "b", "rare"),
  failed: fc.boolean(),
  tags: fc.option(fc.subarray(["x", "y"])),
  metadata: fc.option(fc.constantFrom([["k", "v"]], [["k", "w"]])),
  input: fc.constantFrom("apples", "Bananas", "Kirschen für Öl", "none"),
  output: fc.option(fc.constantFrom("walnuts", "HAZELNUTS", "7 \u{1F330} nuts")),
});

type Write = Omit<
  typeof writes extends fc.Arbitrary<infer Value> ? Value : never,
  "moves" | "name" | "input" | "output"
> & {
  name: string;
  input: string;
  output: string | null;
};

/** Several runs in a transaction, a restart of the shard, or a transaction that fails. */
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.array(writes, { minLength: 1, maxLength: 8 }) },
    { weight: 2, arbitrary: fc.constant("open" as const) },
    { weight: 1, arbitrary: fc.constant("fail" as const) },
  ),
  { maxLength: 25 },
);

function toRun({ id, start, name, failed, tags, metadata, input, output }: Write): Entered {
  return {
    id: `run ${id}`,
    start_time: start,
    trace_id: `trace ${id % 7}`,
    parent_run_id: id % 2 === 0 ? null : `run ${id - 1}`,
    thread_id: null,
    reference_example_id: null,
    name,
    status: failed ? "error" : "success",
    tags: tags === null ? null : JSON.stringify(tags),
    metadata: metadata === null ? null : JSON.stringify(metadata),
    error: null,
    input_leaves: JSON.stringify([["text", input]]),
    output_leaves: output === null ? null : JSON.stringify([["text", output]]),
  };
}

const PLAIN = { failed: false, tags: null, metadata: null, input: "plain", output: null };

function textsOf({ input_leaves, output_leaves }: Entered): string[] {
  const lists = [input_leaves, output_leaves].map((list) => JSON.parse(list ?? "[]") as string[][]);
  return lists.flat().map(([, text = ""]) => text);
}

/** Returns the pieces that may have runs with the text. */
function piecesWith(segments: RunSegments, text: string): StartRange[] {
  const test = textTest({ kind: "text", text });
  const all = segments.pieces({ ids: null, terms: [] }, { from: null, to: null });
  return all.filter((piece) => segments.mayHaveTexts(piece, test));
}

function put(sql: SqlStorage, run: Entered): void {
  const row = {
    ...run,
    key: run.start_time * 1024 + (Number(run.id.split(" ")[1]) % 1024),
    run_type: "llm",
    dotted_order: "",
    patched: 0,
    inserted_at: 0,
    received_at: 0,
  };
  sql.exec(
    `INSERT INTO runs (${Object.keys(row).join(", ")})
     VALUES (${Object.keys(row)
       .map(() => "?")
       .join(", ")})`,
    ...Object.values(row),
  );
}

function covers(spans: readonly StartRange[], start: number): boolean {
  return spans.some(({ from, to }) => from <= start && start <= to);
}

function inShard(work: (storage: DurableObjectStorage) => void): Promise<void> {
  const stub = env.RUN_SHARDS.getByName(crypto.randomUUID());
  return runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec(SHARD_SCHEMA);
    work(storage);
  });
}

test("segments never miss a run, in any order of runs, and after a restart of the shard", async ({
  expect,
}) => {
  let pruned = 0;
  await inShard((storage) => {
    const { sql } = storage;
    const property = fc.property(steps, (all) => {
      for (const table of ["runs", "segments", "segment_texts", "open_segments"])
        sql.exec(`DELETE FROM ${table}`);
      let segments = new RunSegments(sql, LIMITS);
      const stored = new Map<string, Entered>();
      for (const step of all) {
        if (step === "open") {
          segments = new RunSegments(sql, LIMITS);
        } else if (step === "fail") {
          const attempt = (): void =>
            storage.transactionSync(() => {
              const run = toRun({ id: 99, start: 20, name: "a", ...PLAIN });
              segments.add(run, true, run);
              segments.tidy();
              throw new Error("given up");
            });
          expect(attempt).toThrow("given up");
          segments.reset();
        } else {
          storage.transactionSync(() => {
            for (const write of step) {
              const before = stored.get(`run ${write.id}`);
              // Most updates do not change the start.
              const start = write.moves ? write.start : (before?.start_time ?? write.start);
              const run = toRun({ ...write, start });
              sql.exec("DELETE FROM runs WHERE id = ?", run.id);
              put(sql, run);
              const isNew = before?.start_time !== run.start_time;
              const isSame =
                !isNew && SEARCHED_TEXT_COLUMNS.every((name) => before[name] === run[name]);
              segments.add(run, isNew, isSame ? null : run);
              stored.set(run.id, run);
            }
            segments.tidy();
          });
        }
        for (const run of stored.values()) {
          const located = segments.locate([run.id]).map(({ span }) => span);
          expect(covers(located, run.start_time)).toBe(true);
          const asked: RequiredTerms = { ids: null, terms: termsOfRun(run).map((term) => [term]) };
          for (const required of [asked, { ids: [run.id], terms: [] }]) {
            const spans = segments.pieces(required, { from: null, to: null });
            expect(covers(spans, run.start_time)).toBe(true);
            if (spans.every(({ from, to }) => from > -1000 || to < 1000)) pruned += 1;
          }
          for (const text of textsOf(run)) {
            expect(covers(piecesWith(segments, text), run.start_time)).toBe(true);
          }
        }
      }
    });
    fc.assert(property, { seed: 20_260_401, numRuns: 150 });
  });
  // The comparison would be meaningless if every query led to all runs.
  expect(pruned).toBeGreaterThan(1000);
});

test("a segment is written when the next one has begun, and read when the shard is opened", async ({
  expect,
}) => {
  await inShard(({ sql }) => {
    const segments = new RunSegments(sql);
    const count = 5000;
    for (let n = 0; n < count; n += 1) {
      const run = toRun({
        id: n,
        start: n * 10,
        name: n === 1500 ? "rare" : "a",
        ...PLAIN,
      });
      put(sql, run);
      segments.add(run, true, run);
      if (n % 100 === 99) segments.tidy();
    }
    const rows = (table: string): number =>
      sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).one().n;
    expect([rows("segments"), rows("open_segments")]).toEqual([19, 1]);
    const opened = new RunSegments(sql);
    const spans = opened.pieces({ ids: null, terms: [["name rare"]] }, { from: null, to: null });
    expect(spans).toEqual([{ from: 12_800, to: 15_359, size: 256, firstStart: 12_800 }]);
    // Nothing is known yet of the last segment, whose row is not written.
    expect(piecesWith(opened, "rare").map(({ from }) => from)).toEqual([12_800, 48_640]);
    const [located] = opened.locate(["run 4999", "nobody"]);
    assert(located !== undefined);
    expect([located.ids, located.span.from]).toEqual([["run 4999"], 48_640]);
    expect(opened.locate(["nobody"])).toEqual([]);

    // An update adds to a segment whose row was written.
    const update = toRun({ id: 10, start: 100, name: "late", ...PLAIN });
    opened.add(update, false, update);
    opened.tidy();
    sql.exec("UPDATE runs SET name = 'late' WHERE id = 'run 10'");
    const again = new RunSegments(sql);
    const late = again.pieces({ ids: null, terms: [["name late"]] }, { from: null, to: null });
    expect(covers(late, 100)).toBe(true);
  });
});

test("a segment without stored texts reads them from its runs", async ({ expect }) => {
  await inShard(({ sql }) => {
    const segments = new RunSegments(sql, LIMITS);
    for (let n = 0; n < 20; n += 1) {
      const run = toRun({ id: n, start: n * 10, name: "a", ...PLAIN, input: `number ${n + 100}` });
      put(sql, run);
      segments.add(run, true, n === 5 ? null : run);
    }
    segments.tidy();
    for (const known of [segments, new RunSegments(sql, LIMITS)]) {
      expect(piecesWith(known, "number 105")[0]).toMatchObject({ from: 40, to: 79 });
      expect(piecesWith(known, "number 109")[0]).toMatchObject({ from: 80, to: 119 });
    }
  });
});

test("runs without segments are divided at the first read, and in segments from then on", async ({
  expect,
}) => {
  await inShard(({ sql }) => {
    for (let n = 0; n < 200; n += 1) put(sql, toRun({ id: n, start: n * 10, name: "a", ...PLAIN }));
    sql.exec("INSERT INTO open_segments (first_start) VALUES (0)");
    new RunSegments(sql, LIMITS).pieces({ ids: null, terms: [] }, { from: null, to: null });
    const open = sql.exec<{ n: number }>("SELECT count(*) AS n FROM open_segments").one().n;
    const written = sql.exec<{ n: number }>("SELECT count(*) AS n FROM segments").one().n;
    expect([written, open]).toEqual([200 / LIMITS.runs - 1, 1]);
    const span = { from: 1000, to: 1039 };
    const [located] = new RunSegments(sql, LIMITS).locate(["run 101"]);
    expect(located?.span).toEqual(span);
    const named = { ids: ["run 101"], terms: [] };
    const pieces = new RunSegments(sql, LIMITS).pieces(named, { from: null, to: null });
    expect(pieces).toEqual([{ ...span, size: 4, firstStart: 1000 }]);
  });
});

test("runs with the same start are read again less often the more there are", async ({
  expect,
}) => {
  await inShard(({ sql }) => {
    let reads = 0;
    const counted = {
      exec: (...[query, ...values]: Parameters<SqlStorage["exec"]>) => {
        if (query.includes("FROM runs")) reads += 1;
        return sql.exec(query, ...values);
      },
    } as SqlStorage;
    const addAt = (segments: RunSegments, start: number, ids: readonly number[]): void => {
      for (const id of ids) {
        const run = toRun({ id, start, name: "a", ...PLAIN });
        put(sql, run);
        segments.add(run, true, run);
        segments.tidy();
      }
    };
    const numbers = Array.from({ length: 500 }, (_, n) => n);
    const alone = new RunSegments(counted, { ...LIMITS, idsBytes: 10_000 });
    addAt(alone, 1000, numbers);
    expect(reads).toBe(0);
    // A few that start earlier stay together with them: attempts to divide the segment change nothing.
    addAt(alone, 999, [1000, 1001]);
    addAt(
      alone,
      1000,
      numbers.map((n) => n + 500),
    );
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(5);
    addAt(alone, 2000, [1002]);
    const spans = alone.pieces({ ids: null, terms: [] }, { from: null, to: null });
    expect(spans.map(({ size }) => size)).toEqual([1002, 1]);
  });
});
