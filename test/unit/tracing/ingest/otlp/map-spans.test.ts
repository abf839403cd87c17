import { SpanStatusCode } from "@opentelemetry/api";
import { describe, test } from "vitest";
import { decodeBatch } from "../../../../../src/tracing/ingest/decode/batch-body.ts";
import {
  adoptOrphans,
  type OrphanGroup,
  type PlacedSpanRun,
} from "../../../../../src/tracing/ingest/otlp/place-spans.ts";
import {
  mapped,
  mappedRun,
  resource,
  ROOT_SPAN,
  type SpanInit,
  TRACE,
  TRACE_UUID,
} from "./support/otlp-requests.ts";

const CHILD_SPAN = "00f067aa0ba902b7";
const CHILD_UUID = "00000000-0000-0000-00f0-67aa0ba902b7";
const GRANDCHILD_SPAN = "1111111111111111";
const GRANDCHILD_UUID = "00000000-0000-0000-1111-111111111111";
const ROOT_SPAN_UUID = "00000000-0000-0000-b7ad-6b7169203331";
const SDK_RUN = "0198c0de-0000-7000-8000-000000000001";
const SDK_CHILD = "0198c0de-0000-7000-8000-000000000002";

const ROOT_SEGMENT = `20260801T120000123456Z${TRACE_UUID}`;
const CHILD_SEGMENT = `20260801T120000500000Z${CHILD_UUID}`;
const GRANDCHILD_SEGMENT = `20260801T120000600001Z${GRANDCHILD_UUID}`;
const SDK_ORDER = `20260801T115959000001Z${SDK_RUN}`;

const root: SpanInit = { name: "root" };
const child: SpanInit = {
  name: "child",
  spanId: CHILD_SPAN,
  parentSpanId: ROOT_SPAN,
  startNanos: 500_000_000,
};
const grandchild: SpanInit = {
  name: "grandchild",
  spanId: GRANDCHILD_SPAN,
  parentSpanId: CHILD_SPAN,
  startNanos: 600_001_999,
};

const CHILD_PARENT = {
  runId: ROOT_SPAN_UUID,
  ifRoot: { runId: TRACE_UUID, spanId: ROOT_SPAN },
};

type PlaceOfRun = Pick<PlacedSpanRun, "id" | "trace_id" | "parent_run_id" | "dotted_order">;

function placeOf({ run }: { run: PlacedSpanRun }): PlaceOfRun {
  const { id, trace_id, parent_run_id, dotted_order } = run;
  return { id, trace_id, ...(parent_run_id !== undefined && { parent_run_id }), dotted_order };
}

function places(...inits: SpanInit[]): PlaceOfRun[] {
  const { runs, orphans, rejected } = mapped(inits);
  if (orphans.length + rejected.length > 0) throw new Error("not all are placed");
  return runs.map(placeOf);
}

function rejections(...inits: SpanInit[]): string[] {
  return mapped(inits).rejected.map(({ message }) => message);
}

function paths(groups: readonly OrphanGroup[]): unknown {
  return groups.map(({ parent, orphans }) => ({ parent, paths: orphans.map(({ path }) => path) }));
}

describe("a span", () => {
  test("becomes a run", ({ expect }) => {
    const init = { ...root, resource: resource({ "service.name": "svc" }) };
    expect(mappedRun(init, { projectName: "demo" })).toEqual({
      id: TRACE_UUID,
      trace_id: TRACE_UUID,
      dotted_order: ROOT_SEGMENT,
      name: "root",
      run_type: "chain",
      start_time: "2026-08-01T12:00:00.123456Z",
      end_time: "2026-08-01T12:00:02.000005Z",
      session_name: "demo",
      extra: {
        metadata: {
          "service.name": "svc",
          "otel.scope.name": "tests",
          "otel.scope.version": "1.2.3",
          OTEL_TRACE_ID: TRACE,
          OTEL_SPAN_ID: ROOT_SPAN,
        },
      },
    });
  });

  test("has its message as error if its status is bad", ({ expect }) => {
    const status = { code: SpanStatusCode.ERROR, message: "timed out" };
    expect(mappedRun({ status }).error).toBe("timed out");
    const silent = { code: SpanStatusCode.ERROR };
    expect(mappedRun({ status: silent }).error).toBe("Error");
    expect(mappedRun({ status: silent, attributes: { "error.type": "Timeout" } }).error).toBe(
      "Timeout",
    );
    expect(mappedRun({ status: { code: SpanStatusCode.OK, message: "m" } }).error).toBe(undefined);
  });
});

describe("a tree", () => {
  const expected = [
    { id: TRACE_UUID, trace_id: TRACE_UUID, dotted_order: ROOT_SEGMENT },
    {
      id: CHILD_UUID,
      trace_id: TRACE_UUID,
      parent_run_id: TRACE_UUID,
      dotted_order: `${ROOT_SEGMENT}.${CHILD_SEGMENT}`,
    },
    {
      id: GRANDCHILD_UUID,
      trace_id: TRACE_UUID,
      parent_run_id: CHILD_UUID,
      dotted_order: `${ROOT_SEGMENT}.${CHILD_SEGMENT}.${GRANDCHILD_SEGMENT}`,
    },
  ];

  test("has the trace id as the id of its root, and padded span ids below", ({ expect }) => {
    expect(places(root, child, grandchild)).toEqual(expected);
  });

  test("does not depend on the order of its spans, nor on their resources", ({ expect }) => {
    const elsewhere = { ...child, resource: resource({ n: 1 }) };
    expect(places(grandchild, elsewhere, root)).toEqual(expected);
  });

  test("may have the same parent span id as one of another trace", ({ expect }) => {
    const other = { ...child, traceId: "f".repeat(32) };
    expect(paths(mapped([root, other]).orphans)).toEqual([
      {
        parent: {
          runId: ROOT_SPAN_UUID,
          ifRoot: { runId: "ffffffff-ffff-ffff-ffff-ffffffffffff", spanId: ROOT_SPAN },
        },
        paths: [CHILD_SEGMENT],
      },
    ]);
  });

  test("has a root with a parent span id of zeros", ({ expect }) => {
    expect(places({ ...root, parentSpanId: "0".repeat(16) })).toEqual([expected[0]]);
  });
});

test("the runs are valid in a batch of runs", ({ expect }) => {
  const attributes = {
    "langsmith.span.tags": "a,b",
    "langsmith.reference_example_id": SDK_RUN,
    "langsmith.trace.session_id": SDK_CHILD,
    "gen_ai.prompt.0.content": "hi",
    "gen_ai.completion.0.content": "hello",
    "gen_ai.usage.input_tokens": 3,
  };
  const events = [{ name: "new_token" }, { name: "exception" }];
  const { runs } = mapped([{ ...root, attributes, events }, child, grandchild]);
  const body = JSON.stringify({ post: runs.map(({ run }) => run) });
  const { writes, failures } = decodeBatch(new TextEncoder().encode(body));
  expect(failures).toEqual([]);
  expect(writes.map(({ identity }) => identity?.dottedOrder)).toEqual(
    runs.map(({ run }) => run.dotted_order),
  );
  expect(writes[0]).toMatchObject({
    id: TRACE_UUID,
    project: { id: SDK_CHILD },
    startTime: 1_785_585_600_123_456,
    endTime: 1_785_585_602_000_005,
    tags: ["a", "b"],
    referenceExampleId: SDK_RUN,
    payloads: { error: { json: '"Error"' } },
    facts: { firstTokenTime: 1_785_585_601_000_001, usage: { input_tokens: 3 } },
  });
});

describe("orphans", () => {
  test("are returned with their descendants, by the missing parent", ({ expect }) => {
    const { runs, orphans } = mapped([grandchild, child]);
    expect(runs).toEqual([]);
    expect(paths(orphans)).toEqual([
      {
        parent: CHILD_PARENT,
        paths: [CHILD_SEGMENT, `${CHILD_SEGMENT}.${GRANDCHILD_SEGMENT}`],
      },
    ]);
  });

  test("are plain data, with all of their runs", ({ expect }) => {
    const { orphans } = mapped([child], { projectName: "demo" });
    expect(JSON.parse(JSON.stringify(orphans))).toEqual([
      {
        parent: CHILD_PARENT,
        orphans: [
          {
            run: {
              id: CHILD_UUID,
              name: "child",
              run_type: "chain",
              start_time: "2026-08-01T12:00:00.500000Z",
              end_time: "2026-08-01T12:00:02.000005Z",
              session_name: "demo",
              extra: {
                metadata: {
                  "otel.scope.name": "tests",
                  "otel.scope.version": "1.2.3",
                  OTEL_TRACE_ID: TRACE,
                  OTEL_SPAN_ID: CHILD_SPAN,
                },
              },
            },
            attachments: [],
            span: { traceId: TRACE, spanId: CHILD_SPAN },
            identity: { traceId: null },
            path: CHILD_SEGMENT,
          },
        ],
      },
    ]);
  });

  test("get a position when their parent is known", ({ expect }) => {
    const [group] = mapped([child, grandchild]).orphans;
    const { runs, rejected } = adoptOrphans(group?.orphans ?? [], ROOT_SEGMENT);
    expect(rejected).toEqual([]);
    expect(runs.map(placeOf)).toEqual(places(root, child, grandchild).slice(1));
    const deeper = adoptOrphans(group?.orphans ?? [], `${SDK_ORDER}.${ROOT_SEGMENT}`);
    expect(deeper.runs.map(placeOf)[0]).toEqual({
      id: CHILD_UUID,
      trace_id: SDK_RUN,
      parent_run_id: TRACE_UUID,
      dotted_order: `${SDK_ORDER}.${ROOT_SEGMENT}.${CHILD_SEGMENT}`,
    });
  });

  test("are rejected if their parent is in another trace", ({ expect }) => {
    const inOther = { ...child, attributes: { "langsmith.trace.id": SDK_RUN } };
    const [group] = mapped([inOther]).orphans;
    const { runs, rejected } = adoptOrphans(group?.orphans ?? [], ROOT_SEGMENT);
    expect(runs).toEqual([]);
    expect(rejected).toEqual([
      {
        traceId: TRACE,
        spanId: CHILD_SPAN,
        message: `span ${CHILD_SPAN} of trace ${TRACE}: langsmith.trace.id ${SDK_RUN} differs from ${TRACE_UUID}, the trace of its parent`,
      },
    ]);
    expect(adoptOrphans(group?.orphans ?? [], SDK_ORDER).runs).toHaveLength(1);
  });
});

describe("attributes that attach spans to runs", () => {
  test("can be a dotted order, which also gives the position of descendants", ({ expect }) => {
    const dottedOrder = `${SDK_ORDER}.20260801t120000000009z${SDK_CHILD.toUpperCase()}`;
    const hung = {
      ...root,
      attributes: {
        "langsmith.trace.id": SDK_RUN,
        "langsmith.span.parent_id": SDK_RUN,
        "langsmith.span.id": SDK_CHILD,
        "langsmith.span.dotted_order": dottedOrder.replace("t1", "T1").replace("z", "Z"),
      },
    };
    const order = `${SDK_ORDER}.20260801T120000000009Z${SDK_CHILD}`;
    expect(places(hung, child)).toEqual([
      { id: SDK_CHILD, trace_id: SDK_RUN, parent_run_id: SDK_RUN, dotted_order: order },
      {
        id: CHILD_UUID,
        trace_id: SDK_RUN,
        parent_run_id: SDK_CHILD,
        dotted_order: `${order}.${CHILD_SEGMENT}`,
      },
    ]);
  });

  test("make an orphan with only a parent's run id", ({ expect }) => {
    const attributes = { "langsmith.span.parent_id": SDK_RUN };
    const { orphans } = mapped([{ ...root, attributes }, child]);
    expect(paths(orphans)).toEqual([
      {
        parent: { runId: SDK_RUN, ifRoot: null },
        paths: [ROOT_SEGMENT, `${ROOT_SEGMENT}.${CHILD_SEGMENT}`],
      },
    ]);
  });

  test("attach a root below the root of a trace with only a trace id", ({ expect }) => {
    const { orphans } = mapped([{ ...root, attributes: { "langsmith.trace.id": SDK_RUN } }]);
    expect(paths(orphans)).toEqual([
      { parent: { runId: SDK_RUN, ifRoot: null }, paths: [ROOT_SEGMENT] },
    ]);
    const own = { ...root, attributes: { "langsmith.trace.id": TRACE_UUID } };
    expect(places(own)).toEqual(places(root));
  });

  test("can be a run id, which is the parent of the children", ({ expect }) => {
    const named = { ...root, attributes: { "langsmith.span.id": SDK_RUN.replaceAll("-", "") } };
    const order = `20260801T120000123456Z${SDK_RUN}`;
    expect(places(child, named)).toEqual([
      { id: SDK_RUN, trace_id: SDK_RUN, dotted_order: order },
      {
        id: CHILD_UUID,
        trace_id: SDK_RUN,
        parent_run_id: SDK_RUN,
        dotted_order: `${order}.${CHILD_SEGMENT}`,
      },
    ]);
    const byRunId = { ...child, attributes: { "langsmith.span.parent_id": SDK_RUN } };
    expect(places(byRunId, named)).toEqual(places(child, named));
  });

  test("can declare a root, which starts a trace although its span has a parent", ({ expect }) => {
    const declared = { ...child, attributes: { "langsmith.is_root": true } };
    expect(places(root, declared, grandchild)).toEqual([
      ...places(root),
      { id: CHILD_UUID, trace_id: CHILD_UUID, dotted_order: CHILD_SEGMENT },
      {
        id: GRANDCHILD_UUID,
        trace_id: CHILD_UUID,
        parent_run_id: CHILD_UUID,
        dotted_order: `${CHILD_SEGMENT}.${GRANDCHILD_SEGMENT}`,
      },
    ]);
    expect(places({ ...root, attributes: { "langsmith.is_root": "true" } })).toEqual(places(root));
  });

  test("can have a padded span id as a parent id, which means that span", ({ expect }) => {
    const hung = {
      ...grandchild,
      attributes: { "langsmith.span.parent_id": ROOT_SPAN_UUID },
    };
    expect(places(root, hung)[1]).toEqual({
      id: GRANDCHILD_UUID,
      trace_id: TRACE_UUID,
      parent_run_id: TRACE_UUID,
      dotted_order: `${ROOT_SEGMENT}.${GRANDCHILD_SEGMENT}`,
    });
    expect(paths(mapped([hung]).orphans)).toEqual([
      { parent: CHILD_PARENT, paths: [GRANDCHILD_SEGMENT] },
    ]);
  });

  const prefix = `span ${ROOT_SPAN} of trace ${TRACE}: `;
  test.for([
    [{ "langsmith.span.id": "x" }, "langsmith.span.id should be a UUID"],
    [{ "langsmith.span.parent_id": "7" }, "langsmith.span.parent_id should be a UUID"],
    [{ "langsmith.trace.id": "7" }, "langsmith.trace.id should be a UUID"],
    [
      { "langsmith.span.dotted_order": "now" },
      "langsmith.span.dotted_order should be YYYYMMDDTHHMMSSffffffZ<run id> for each run from the root on, joined by dots",
    ],
    [
      { "langsmith.span.dotted_order": SDK_ORDER, "langsmith.span.id": SDK_CHILD },
      `langsmith.span.id ${SDK_CHILD} differs from what langsmith.span.dotted_order says`,
    ],
    [
      { "langsmith.span.dotted_order": SDK_ORDER, "langsmith.span.parent_id": SDK_CHILD },
      `langsmith.span.parent_id ${SDK_CHILD} differs from what langsmith.span.dotted_order says`,
    ],
    [
      { "langsmith.span.dotted_order": SDK_ORDER, "langsmith.trace.id": SDK_CHILD },
      `langsmith.trace.id ${SDK_CHILD} differs from what langsmith.span.dotted_order says`,
    ],
  ] as const)("are rejected: %o", ([attributes, reason], { expect }) => {
    expect(rejections({ attributes })).toEqual([`${prefix}${reason}`]);
  });

  test("are rejected with a trace other than the parent's", ({ expect }) => {
    const inOther = { ...child, attributes: { "langsmith.trace.id": SDK_RUN } };
    expect(rejections(root, inOther)).toEqual([
      `span ${CHILD_SPAN} of trace ${TRACE}: langsmith.trace.id ${SDK_RUN} differs from ${TRACE_UUID}, the trace of its parent`,
    ]);
  });
});

describe("invalid spans", () => {
  test("do not affect the others", ({ expect }) => {
    const { runs, rejected } = mapped([root, { spanId: "00" }, child]);
    expect(runs.map(({ run }) => run.name)).toEqual(["root", "child"]);
    expect(rejected).toEqual([
      {
        traceId: TRACE,
        spanId: "00",
        message: `span 00 of trace ${TRACE}: span_id should have 8 bytes, not 1`,
      },
    ]);
  });

  test.for([
    [{ traceId: "ab" }, "trace_id should have 16 bytes, not 1"],
    [{ traceId: "0".repeat(32) }, "trace_id should not be zero"],
    [{ spanId: "0".repeat(16) }, "span_id should not be zero"],
    [{ spanId: "ab".repeat(16) }, "span_id should have 8 bytes, not 16"],
    [{ parentSpanId: "ab" }, "parent_span_id should have 8 bytes, not 1"],
    [{ startNanos: -1_785_585_600e9 }, "start_time_unix_nano is required"],
    [{ startNanos: 8e18 }, "start_time_unix_nano should be before the year 2255"],
  ] as const)("are reported with the reason: %o", ([init, reason], { expect }) => {
    const [message = ""] = rejections(init);
    expect(message.slice(message.indexOf(": ") + 2)).toBe(reason);
  });

  test("do not make long messages by ids of any size", ({ expect }) => {
    const [message = ""] = rejections({ spanId: "ab".repeat(10_000), traceId: "" });
    expect(message).toBe(`span ${"ab".repeat(16)} of trace : trace_id should have 16 bytes, not 0`);
  });

  test("are the second ones of two with the same id", ({ expect }) => {
    const { runs, rejected } = mapped([root, child, { ...child, name: "again" }, grandchild]);
    expect(runs.map(({ run }) => run.name)).toEqual(["root", "child", "grandchild"]);
    expect(rejected.map(({ message }) => message)).toEqual([
      `span ${CHILD_SPAN} of trace ${TRACE}: its run id ${CHILD_UUID} is that of span ${CHILD_SPAN} of trace ${TRACE} too`,
    ]);
  });

  test("include a second root of one trace", ({ expect }) => {
    expect(rejections(root, { spanId: CHILD_SPAN })).toEqual([
      `span ${CHILD_SPAN} of trace ${TRACE}: its run id ${TRACE_UUID} is that of span ${ROOT_SPAN} of trace ${TRACE} too`,
    ]);
  });

  test("include cycles of parents, and their descendants", ({ expect }) => {
    const reason = "its chain of parents is a circle";
    const own = { ...child, parentSpanId: CHILD_SPAN };
    const circle = { ...child, parentSpanId: GRANDCHILD_SPAN };
    const below = { spanId: "2222222222222222", parentSpanId: GRANDCHILD_SPAN };
    expect(rejections(root, own)).toEqual([`span ${CHILD_SPAN} of trace ${TRACE}: ${reason}`]);
    for (const inits of [
      [below, circle, grandchild, root],
      [root, grandchild, circle, below],
    ]) {
      expect(rejections(...inits).toSorted()).toEqual([
        `span ${CHILD_SPAN} of trace ${TRACE}: ${reason}`,
        `span ${GRANDCHILD_SPAN} of trace ${TRACE}: ${reason}`,
        `span 2222222222222222 of trace ${TRACE}: ${reason}`,
      ]);
      expect(mapped(inits).runs.map(({ run }) => run.name)).toEqual(["root"]);
    }
  });
});

describe("the limits", () => {
  function chain(length: number, firstParent?: string): SpanInit[] {
    return Array.from({ length }, (_, index) => ({
      spanId: spanId(index),
      ...(index > 0 ? { parentSpanId: spanId(index - 1) } : {}),
      ...(index === 0 && firstParent !== undefined && { parentSpanId: firstParent }),
    }));
  }

  function spanId(index: number): string {
    return (index + 1).toString(16).padStart(16, "0");
  }

  test("are 1000 levels, and deeper spans are rejected", ({ expect }) => {
    const { runs, rejected } = mapped(chain(1003).toReversed());
    expect(runs).toHaveLength(1000);
    const reason = "it is nested deeper than 1000 runs";
    expect(rejected.map(({ message }) => message)).toEqual(
      [1000, 1001, 1002].map((index) => `span ${spanId(index)} of trace ${TRACE}: ${reason}`),
    );
    const longest = runs.toSorted(
      (a, b) => b.run.dotted_order.length - a.run.dotted_order.length,
    )[0];
    expect(longest?.run.dotted_order.split(".")).toHaveLength(1000);
  });

  test("apply to orphans that are attached later", ({ expect }) => {
    const [group] = mapped(chain(3, ROOT_SPAN)).orphans;
    const parent = Array.from({ length: 998 }, () => ROOT_SEGMENT).join(".");
    const { runs, rejected } = adoptOrphans(group?.orphans ?? [], parent);
    expect(runs).toHaveLength(2);
    expect(rejected.map(({ message }) => message)).toEqual([
      `span ${spanId(2)} of trace ${TRACE}: it is nested deeper than 1000 runs`,
    ]);
  });

  test("keep a small request from becoming a huge one", ({ expect }) => {
    const deep = chain(990);
    const leaves = Array.from({ length: 1000 }, (_, index) => ({
      spanId: spanId(10_000 + index),
      parentSpanId: spanId(989),
    }));
    const { runs, rejected } = mapped([...deep, ...leaves]);
    const chars = runs.reduce((sum, { run }) => sum + run.dotted_order.length, 0);
    expect(chars).toBeLessThan(48 * 1024 * 1024);
    expect(runs.length + rejected.length).toBe(1990);
    expect(rejected[0]?.message).toContain(
      "the request has too many spans that are nested deeply or have large resources",
    );
  });
});
