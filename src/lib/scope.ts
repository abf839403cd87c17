/** The tenant and deployment whose data a request may touch. Every query and every object name starts with it. */
export type Scope = { workspaceId: string; deploymentId: string };

/** The id of the deployment that serves the project the Worker was built with. */
export const DEFAULT_DEPLOYMENT_ID = "default";
