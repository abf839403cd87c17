import { toIso } from "../../lib/time.ts";
import type { ListedRevision } from "../../db/revisions-repo.ts";
import type { RevisionJson } from "./revision-schemas.ts";

/** A revision as the API shows it. */
export function toRevision(row: ListedRevision): RevisionJson {
  return {
    id: row.id,
    status: row.status,
    status_message: row.status_message,
    source: row.source,
    source_revision_config: toRevisionConfig(row),
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
  };
}

export function toRevisionConfig(row: ListedRevision): RevisionJson["source_revision_config"] {
  return {
    source_tarball_path: row.source_tarball_path,
    langgraph_config_path: row.langgraph_config_path,
    repo_ref: null,
    repo_commit_sha: null,
    image_uri: null,
  };
}
