/** Whose data a request may touch: every query and every object name starts with it. */
export type Scope = { workspaceId: string; deploymentId: string };

/** The deployment of the project that the Worker was built with. */
export const DEFAULT_DEPLOYMENT_ID = "default";
