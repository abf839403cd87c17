import { createRoute, z } from "@hono/zod-openapi";
import { uuidParam } from "../../http/path-params.ts";
import { listParam } from "../../http/query-params.ts";
import { createRouter } from "../../http/router.ts";
import { streamResponse } from "../../http/streamed-response.ts";
import { agentCall } from "../agent-call.ts";
import { threadFor } from "../auth/thread-access.ts";
import { threadFailure } from "../threads/contract/failures.ts";
import {
  THREAD_STREAM_MODES,
  type ThreadStreamQuery,
} from "../threads/contract/thread-requests.ts";

/** Routes that stream a thread across all its runs. */
export const threadStreamRoutes = createRouter();

const modes = listParam(THREAD_STREAM_MODES).optional();

threadStreamRoutes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}/stream",
    tags: ["Threads"],
    summary: "Follow the runs of a thread, present and future",
    request: {
      params: z.object({ thread_id: uuidParam() }),
      // The clients send `stream_mode`; the published description has `stream_modes`.
      query: z.strictObject({ stream_mode: modes, stream_modes: modes }),
    },
    responses: {
      200: {
        description:
          "Server-sent events, after `Last-Event-ID` when given; `-` starts with the oldest kept event",
        content: { "text/event-stream": { schema: z.string() } },
      },
    },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const { stream_mode = [], stream_modes = [] } = c.req.valid("query");
    const asked = [...stream_mode, ...stream_modes];
    const thread = await threadFor(agentCall(c), "threads:read", { thread_id });
    const opened = await thread.streamThread({
      last_event_id: placeOf(c.req.header("last-event-id")),
      modes: asked.length > 0 ? asked : ["run_modes"],
    });
    if (!opened.ok) throw threadFailure(opened, thread_id);
    // The address at which a client resumes reading when its connection breaks.
    c.header("Location", `/threads/${thread_id}/stream`);
    return streamResponse(c, "events", opened.value);
  },
);

/** Parses the header. An event id that this server did not create is treated as if the header were missing. */
function placeOf(header: string | undefined): ThreadStreamQuery["last_event_id"] {
  if (header === "-" || header === "-1") return "beginning";
  const [, turn, event] = /^(\d{1,15})-(\d{1,15})$/.exec(header ?? "") ?? [];
  if (turn === undefined || event === undefined) return null;
  return { turn: Number(turn), event: Number(event) };
}
