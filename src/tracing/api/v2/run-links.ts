import { findShareTokens } from "../../../db/run-shares-repo.ts";
import type { AppContext } from "../../../http/app-types.ts";
import { appPath, linkSettings, signedObjectUrl } from "../links.ts";
import type { PlacedRun } from "../../query/run-source.ts";
import type { JsonPart } from "../json-parts.ts";
import type { RunField } from "./run-fields.ts";
import { toRunJsonV2 } from "./run-json.ts";

/** Returns the JSON of some runs, each in pieces; what the runs have in common is looked up once. */
export async function toRunsJson(
  c: AppContext,
  workspaceId: string,
  runs: readonly PlacedRun[],
  fields: Iterable<RunField>,
): Promise<JsonPart[][]> {
  const selected = new Set(fields);
  const tokens = selected.has("SHARE_URL")
    ? // Sharing a root run shares its whole trace.
      await findShareTokens(
        c.env.DB,
        workspaceId,
        runs.flatMap(({ run }) => [run.id, run.trace_id]),
      )
    : new Map<string, string>();
  return Promise.all(
    runs.map((placed) =>
      toRunJsonV2(placed, selected, {
        appPath: () => appPath(placed),
        attachmentUrl: (attachment) => signedObjectUrl(linkSettings(c), attachment),
        shareUrl: () => {
          const token = tokens.get(placed.run.id) ?? tokens.get(placed.run.trace_id);
          return token === undefined ? undefined : new URL(`/public/${token}/r`, c.req.url).href;
        },
      }),
    ),
  );
}
