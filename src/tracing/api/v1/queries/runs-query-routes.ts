import { createRoute, z } from "@hono/zod-openapi";
import { invalidField } from "../../../../lib/api-error.ts";
import { createRouter } from "../../../../http/router.ts";
import { filterProblem } from "../../../filter/filter.ts";
import { decodeCursor, encodeCursor, type RunPosition } from "../../../model/run-page.ts";
import { jsonStreamResponse } from "../../json-stream.ts";
import type { JsonPart } from "../../json-parts.ts";
import { type RunJsonContext, runJsonContext, toRunJsonV1 } from "../runs/run-json.ts";
import {
  ALWAYS_SELECTED,
  DEFAULT_SELECT,
  payloadsOfSelect,
  type RunSelect,
} from "../runs/run-schema.ts";
import { findRuns, type RunsFound } from "../../../query/find-runs.ts";
import { MAX_PAGE, readSelection, runsPageSchemaV1, runsQuerySchemaV1 } from "./selection.ts";

export const runsQueryRoutes = createRouter();

const queryBody = {
  content: { "application/json": { schema: runsQuerySchemaV1 } },
  required: true,
};

runsQueryRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/query",
    tags: ["Runs of traces"],
    summary: "Query runs",
    request: { body: queryBody },
    responses: {
      200: {
        description:
          "A page of runs in the order of their start; `cursors.next` is the cursor of the next page",
        content: { "application/json": { schema: runsPageSchemaV1 } },
      },
    },
  }),
  async (c) => {
    const body = c.req.valid("json");
    const { workspaceId } = c.var.scope;
    const select = new Set<RunSelect>([...ALWAYS_SELECTED, ...(body.select ?? DEFAULT_SELECT)]);
    const found = await findRuns(c.env, {
      workspaceId,
      ...readSelection(body),
      order: body.order ?? "desc",
      after: readCursor(body.cursor),
      limit: Math.min(body.limit ?? MAX_PAGE, MAX_PAGE),
      payloads: payloadsOfSelect(select),
    });
    const parts = pageJson(found, select, runJsonContext(c, workspaceId));
    return jsonStreamResponse(c.env.PAYLOADS, parts) as never;
  },
);

runsQueryRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/query/validate",
    tags: ["Runs of traces"],
    summary: "Check the filters of a query",
    request: { body: queryBody },
    responses: {
      200: {
        description: "Whether the filters are valid, and what is wrong with them",
        content: {
          "application/json": {
            schema: z.object({
              valid: z.boolean(),
              errors: z.array(z.object({ field: z.string(), message: z.string() })),
            }),
          },
        },
      },
    },
  }),
  (c) => {
    const body = c.req.valid("json");
    const errors = (["filter", "trace_filter", "tree_filter"] as const).flatMap((field) => {
      const text = body[field];
      const message = text ? filterProblem(text) : null;
      return message === null ? [] : [{ field, message }];
    });
    return c.json({ valid: errors.length === 0, errors }, 200);
  },
);

export function readCursor(text: string | null | undefined): RunPosition | null {
  if (!text) return null;
  const position = decodeCursor(text);
  if (position === null) {
    throw invalidField(["body", "cursor"], "Input should be a cursor of an earlier page", "cursor");
  }
  return position;
}

export async function* pageJson(
  { runs, next }: RunsFound,
  select: ReadonlySet<RunSelect>,
  context: RunJsonContext,
): AsyncGenerator<JsonPart> {
  yield '{"runs":[';
  for (const [index, run] of runs.entries()) {
    if (index > 0) yield ",";
    yield* await toRunJsonV1(run, select, context);
  }
  const cursors = { next: next === null ? null : encodeCursor(next), prev: null };
  yield `],"cursors":${JSON.stringify(cursors)}}`;
}
