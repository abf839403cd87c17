import { describe, test } from "vitest";
import { type RunLinks, toRunJsonV2 } from "../../../../../src/tracing/api/v2/run-json.ts";
import {
  PUBLIC_LIST_FIELDS,
  PUBLIC_RUN_FIELDS,
  payloadsOfFields,
  TRACED_RUN_FIELDS,
  type RunField,
} from "../../../../../src/tracing/api/v2/run-fields.ts";
import { NOON, readRun, PROJECT_ID, RUN_ID, TRACE_ID } from "./support/read-run.ts";

const LINKS: RunLinks = {
  appPath: () => "/console/run",
  attachmentUrl: ({ object }) => Promise.resolve(`https://host/${object}`),
  shareUrl: () => undefined,
};

async function answer(
  run: ReturnType<typeof readRun>,
  fields: readonly RunField[],
  links = LINKS,
): Promise<unknown> {
  const parts = await toRunJsonV2(run, fields, links);
  return JSON.parse(parts.map((part) => (typeof part === "string" ? part : "{}")).join(""));
}

describe("toRunJsonV2", () => {
  test("has the selected fields and no others", async ({ expect }) => {
    expect(await answer(readRun(), ["ID"])).toEqual({ id: RUN_ID });
    expect(await answer(readRun(), ["NAME", "RUN_TYPE", "STATUS"])).toEqual({
      name: "model",
      run_type: "LLM",
      status: "PENDING",
    });
  });

  test("has the run's project and trace", async ({ expect }) => {
    const fields: RunField[] = ["PROJECT_ID", "TRACE_ID", "PARENT_RUN_IDS", "IS_ROOT", "APP_PATH"];
    expect(await answer(readRun(), fields)).toEqual({
      project_id: PROJECT_ID,
      trace_id: TRACE_ID,
      parent_run_ids: [TRACE_ID],
      is_root: false,
      app_path: "/console/run",
    });
  });

  test("has times in microseconds, and the latency in seconds", async ({ expect }) => {
    const fields: RunField[] = ["START_TIME", "END_TIME", "FIRST_TOKEN_TIME", "LATENCY_SECONDS"];
    const run = readRun({ end_time: NOON + 1_500_001, first_token_time: NOON + 250_000 });
    expect(await answer(run, fields)).toEqual({
      start_time: "2026-08-01T12:00:00.000001Z",
      end_time: "2026-08-01T12:00:01.500002Z",
      first_token_time: "2026-08-01T12:00:00.250001Z",
      latency_seconds: 1.500001,
    });
  });

  test("omits missing values, except for the end of an open run", async ({ expect }) => {
    expect(await answer(readRun(), TRACED_RUN_FIELDS)).toEqual({
      id: RUN_ID,
      name: "model",
      run_type: "LLM",
      status: "PENDING",
      start_time: "2026-08-01T12:00:00.000001Z",
      end_time: null,
      extra: {},
      metadata: {},
      events: [],
      inputs: {},
      parent_run_ids: [TRACE_ID],
      project_id: PROJECT_ID,
      trace_id: TRACE_ID,
      dotted_order: readRun().run.dotted_order,
      is_root: false,
      is_in_dataset: false,
      total_tokens: 0,
      prompt_tokens: 0,
      completion_tokens: 0,
      tags: [],
      app_path: "/console/run",
      attachments: {},
      feedback_stats: {},
    });
  });

  test("has costs as numbers, by category under raw", async ({ expect }) => {
    const run = readRun({
      total_tokens: 30,
      prompt_tokens: 20,
      completion_tokens: 10,
      total_cost: 65_000_000,
      prompt_cost: 35_000_000,
      completion_cost: 1,
      prompt_token_details: '{"cache_read":5}',
      prompt_cost_details: '{"cache_read":5000000}',
      completion_cost_details: "{}",
    });
    const fields = TRACED_RUN_FIELDS.filter((field) => /_(COST|TOKENS|DETAILS)$/.test(field));
    expect(await answer(run, fields)).toEqual({
      total_tokens: 30,
      prompt_tokens: 20,
      completion_tokens: 10,
      total_cost: 0.000065,
      prompt_cost: 0.000035,
      completion_cost: 1e-12,
      prompt_token_details: { raw: { cache_read: 5 } },
      prompt_cost_details: { raw: { cache_read: 0.000005 } },
      completion_cost_details: { raw: {} },
    });
  });

  test("includes small payloads unchanged, and links to large ones", async ({ expect }) => {
    const run = readRun({
      status: "error",
      error: "bo",
      payloads: {
        inputs: { json: '{"n": 12345678901234567890}' },
        outputs: { object: "payloads/large", bytes: 100_000 },
        error: { json: '"boom"' },
        serialized: { json: '{"lc":1}' },
      },
    });
    expect(
      await toRunJsonV2(
        run,
        ["INPUTS", "OUTPUTS", "ERROR", "ERROR_PREVIEW", "MANIFEST", "ID"],
        LINKS,
      ),
    ).toEqual([
      '{"inputs":{"n": 12345678901234567890},"outputs":',
      { object: "payloads/large" },
      `,"error":"boom","error_preview":"bo","manifest":{"lc":1},"id":"${RUN_ID}"}`,
    ]);
  });

  test("moves the metadata out of extra with its exact numbers", async ({ expect }) => {
    const json =
      '{ "runtime": {"metadata": 1}, "metadata": {"n": 12345678901234567890, "x": "}"} }';
    const [text] = await toRunJsonV2(readRun({ payloads: { extra: { json } } }), ["METADATA"], {
      ...LINKS,
    });
    expect(text).toBe('{"metadata":{"n": 12345678901234567890, "x": "}"}}');
    for (const none of ["{}", '{"metadata":null}', '{"metadata":[1]}']) {
      const run = readRun({ payloads: { extra: { json: none } } });
      expect(await answer(run, ["METADATA"])).toEqual({ metadata: {} });
    }
  });

  test("maps attachments to links by name, whatever the name", async ({ expect }) => {
    const attachments = JSON.stringify([
      { name: "photo", mimeType: "image/png", bytes: 4, object: "a/1" },
      { name: "__proto__", mimeType: "text/plain", bytes: 1, object: "a/2" },
    ]);
    const [text] = await toRunJsonV2(readRun({ attachments }), ["ATTACHMENTS"], LINKS);
    expect(text).toBe(
      '{"attachments":{"photo":"https://host/a/1","__proto__":"https://host/a/2"}}',
    );
  });

  test("has the public link of a shared run", async ({ expect }) => {
    const links = { ...LINKS, shareUrl: () => "https://host/public/token/r" };
    expect(await answer(readRun(), ["SHARE_URL"], links)).toEqual({
      share_url: "https://host/public/token/r",
    });
    expect(await answer(readRun(), ["SHARE_URL"])).toEqual({});
  });
});

describe("the selectable fields", () => {
  test("need the payloads that they consist of, and no others", ({ expect }) => {
    expect(payloadsOfFields(["ID", "INPUTS_PREVIEW", "ERROR_PREVIEW"])).toEqual([]);
    expect(payloadsOfFields(["METADATA", "EXTRA", "MANIFEST", "ERROR"])).toEqual([
      "extra",
      "serialized",
      "error",
    ]);
  });

  test("do not link into the workspace with a share token", ({ expect }) => {
    const named = new Set<string>([...PUBLIC_LIST_FIELDS, ...PUBLIC_RUN_FIELDS]);
    expect(["APP_PATH", "SHARE_URL"].filter((field) => named.has(field))).toEqual([]);
    expect(PUBLIC_LIST_FIELDS.filter((field) => /^(IN|OUT)PUTS$|ATTACH/.test(field))).toEqual([]);
  });
});
