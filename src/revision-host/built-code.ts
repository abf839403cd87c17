import type { RevisionRef } from "../lib/revision-ref.ts";

/** The modules of a revision, as its build leaves them in R2: one JSON object. */
export type BuiltCode = {
  /** The module that exports the class `GraphHost`. */
  main: string;
  modules: Record<string, BuiltModule>;
};

/** Binary data as base64. */
export type BuiltModule = { js: string } | { json: unknown } | { text: string } | { wasm: string };

/** Ends with the revision, so that what belongs to one deployment has one prefix. */
export function builtCodeKey({ workspaceId, deploymentId, revisionId }: RevisionRef): string {
  return `${builtCodePrefix({ workspaceId, deploymentId })}${revisionId}.json`;
}

/** Of the main module, where its tarball has one. */
export function sourceMapKey({ workspaceId, deploymentId, revisionId }: RevisionRef): string {
  return `${builtCodePrefix({ workspaceId, deploymentId })}${revisionId}.map`;
}

export function builtCodePrefix(of: { workspaceId: string; deploymentId: string }): string {
  return `${of.workspaceId}/built/${of.deploymentId}/`;
}
