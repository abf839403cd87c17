import { findShards, SHARDS_AT_ONCE } from "../../db/run-shards-repo.ts";
import { mapLimited } from "../../lib/map-limited.ts";
import type { KnownTraces } from "../filter/filter.ts";
import type { RunPosition } from "../model/run-page.ts";
import type { RunSelection } from "../shard/selection.ts";
import { refOf, shardStub } from "../shard/shard-ref.ts";
import { knownTracesReader } from "./known-traces.ts";
import { Turns } from "./turns.ts";

/** Reads rows from all shards that may have runs of the selection, turn by turn and in no particular order. */
export async function readAllShards<Row>(
  env: Env,
  query: {
    workspaceId: string;
    /** Undefined for all projects of the workspace. */
    projectIds: readonly string[] | undefined;
    selection: RunSelection;
  },
  read: (
    stub: ReturnType<typeof shardStub>,
    after: RunPosition | null,
    known: KnownTraces | undefined,
  ) => Promise<{ rows: Row[]; next: RunPosition | null }>,
  take: (row: Row) => void,
): Promise<void> {
  const { workspaceId, projectIds, selection } = query;
  const { from, to } = selection;
  const rows = await findShards(env.DB, workspaceId, {
    projectIds,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  });
  const knownOf = knownTracesReader(env, selection, workspaceId);
  const turns = new Turns();
  await mapLimited(rows, SHARDS_AT_ONCE, async (row) => {
    const ref = refOf(row);
    const known = await knownOf(ref);
    const stub = shardStub(env, ref);
    await turns.readAll((after) => read(stub, after, known), take);
  });
}
