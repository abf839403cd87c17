import { createRoute, z } from "@hono/zod-openapi";
import { findShards, SHARDS_AT_ONCE } from "../../../../db/run-shards-repo.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { booleanParam } from "../../../../http/query-params.ts";
import { createRouter } from "../../../../http/router.ts";
import { mapLimited } from "../../../../lib/map-limited.ts";
import { requireProject } from "../../../projects/project-cache.ts";
import {
  ALWAYS_SELECTED,
  DEFAULT_SELECT,
  payloadsOfSelect,
  runSchemaV1,
  type RunSelect,
} from "./run-schema.ts";
import { refOf, shardStub } from "../../../shard/shard-ref.ts";
import { jsonStreamResponse } from "../../json-stream.ts";
import { requireRun } from "../../../query/find-runs.ts";
import { runIdParam } from "../params.ts";
import { runJsonContext, toRunJsonV1 } from "./run-json.ts";

export const tracedRunRoutes = createRouter();

/** The members of a single run, which may cost more reads than a run in a page. */
const SINGLE_RUN_SELECT: readonly RunSelect[] = [
  ...ALWAYS_SELECTED,
  ...DEFAULT_SELECT,
  "inputs_preview",
  "outputs_preview",
  "child_run_ids",
  "share_token",
  "trace_min_max_start_time",
];

const STORED_APART: Partial<Record<RunSelect, RunSelect>> = {
  inputs: "inputs_or_signed_url",
  outputs: "outputs_or_signed_url",
  events: "events_or_signed_url",
  error: "error_or_signed_url",
};

tracedRunRoutes.openapi(
  createRoute({
    method: "get",
    path: "/runs/{run_id}",
    tags: ["Runs of traces"],
    summary: "Get a run",
    request: {
      params: z.object({ run_id: runIdParam() }),
      query: z.strictObject({
        // Clients name the project of the run; the index also knows it.
        session_id: uuidParam().optional(),
        start_time: z.string().optional(),
        exclude_s3_stored_attributes: booleanParam().optional(),
        exclude_serialized: booleanParam().optional(),
      }),
    },
    responses: {
      200: { description: "The run", content: { "application/json": { schema: runSchemaV1 } } },
    },
  }),
  async (c) => {
    const { run_id } = c.req.valid("param");
    const query = c.req.valid("query");
    const { workspaceId } = c.var.scope;
    const names = SINGLE_RUN_SELECT.filter(
      (name) => name !== "serialized" || query.exclude_serialized !== true,
    ).map((name) =>
      query.exclude_s3_stored_attributes === true ? (STORED_APART[name] ?? name) : name,
    );
    const select = new Set(names);
    const payloads = payloadsOfSelect(select);
    const found = await requireRun(c.env, {
      workspaceId,
      runId: run_id,
      projectId: query.session_id,
      payloads,
    });
    const parts = await toRunJsonV1(found, select, runJsonContext(c, workspaceId));
    return jsonStreamResponse(c.env.PAYLOADS, parts) as never;
  },
);

const deleteBody = z.strictObject({
  session_id: uuidParam(),
  trace_ids: z.array(uuidParam()).min(1).max(1000),
});

for (const path of ["/runs/delete", "/runs/delete/traces"]) {
  tracedRunRoutes.openapi(
    createRoute({
      method: "post",
      path,
      tags: ["Runs of traces"],
      summary: "Delete traces",
      request: {
        body: { required: true, content: { "application/json": { schema: deleteBody } } },
      },
      responses: {
        200: {
          description: "The traces are deleted",
          content: { "application/json": { schema: z.object({ message: z.string() }) } },
        },
      },
    }),
    async (c) => {
      const { session_id, trace_ids } = c.req.valid("json");
      const { workspaceId } = c.var.scope;
      await requireProject(c.env.DB, workspaceId, session_id, "Session");
      const shards = await findShards(c.env.DB, workspaceId, { projectIds: [session_id] });
      await mapLimited(shards, SHARDS_AT_ONCE, async (row) => {
        const ref = refOf(row);
        await shardStub(c.env, ref).deleteTraces(ref, trace_ids);
      });
      return c.json({ message: `Deleted ${trace_ids.length} traces` }, 200);
    },
  );
}
