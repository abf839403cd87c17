import { selectSourceUpload } from "../../db/source-uploads-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { invalidField } from "../../lib/api-error.ts";

/** 422 unless it is a tarball of the workspace, which is there; null is none. */
export async function requireUpload(c: AppContext, objectPath: string | null): Promise<void> {
  if (objectPath === null) return;
  const { workspaceId } = c.var.scope;
  const upload = await selectSourceUpload(c.env.DB, { workspaceId, objectPath });
  if (upload !== undefined && upload.size !== null) return;
  const message =
    upload === undefined
      ? "String should be an object_path that an upload-url request was answered with"
      : "Nothing has been uploaded there yet";
  const loc = ["body", "source_revision_config", "source_tarball_path"];
  throw invalidField(loc, message, "value_error");
}
