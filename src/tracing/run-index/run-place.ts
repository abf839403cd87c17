/** Where a run is: the rest of a ShardRef. */
export type RunPlace = { projectId: string; day: number; bucket: number };

export type IndexedRun = RunPlace & { id: string };
