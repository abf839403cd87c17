/** Names a revision: the props of the entrypoints that stand between its code and the world. */
export type RevisionRef = { workspaceId: string; deploymentId: string; revisionId: string };
