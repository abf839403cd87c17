import type { Deployment } from "../api/deployments.ts";

/** Formats the status of a deployment or a revision as words; the API has it in capitals. */
export function statusWords(status: string): string {
  return status.toLowerCase().replaceAll("_", " ");
}

/** Returns the words for the state of a deployment. The API calls one ready even if none of its revisions was deployed. */
export function stateWords({ status, active_revision_id }: Deployment): string {
  return status === "READY" && active_revision_id === null ? "serves nothing" : statusWords(status);
}
