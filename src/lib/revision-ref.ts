/** The ids that identify a revision of a deployment. */
export type RevisionRef = { workspaceId: string; deploymentId: string; revisionId: string };
