/** What a shard says of writes. */
export type WriteResult = {
  /** Nothing was stored. */
  projectGone: boolean;
  /** Runs of updates without a place in the tree, which are not here. */
  unknown: string[];
  /** Runs of writes that are not stored, as `extra` would have become too large. */
  tooLarge: string[];
};

export const PROJECT_GONE: WriteResult = { projectGone: true, unknown: [], tooLarge: [] };
