import { requireRoom } from "../../../lib/local-disk.ts";
import type { RevisionRow } from "../../../db/rollouts-repo.ts";
import { MAX_TARBALL_BYTES } from "../../../lib/project-manifest.ts";
import {
  type BuiltCode,
  builtCodeKey,
  packCode,
  sourceMapKey,
} from "../../../revision-host/built-code.ts";
import { storableMap } from "../../../revision-host/source-positions.ts";
import { templateTarball } from "../revision-source.ts";
import { buildCode, ProjectFailure } from "./build.ts";
import type { RolloutLog } from "./rollout-log.ts";

/**
 * Makes a revision's source into the modules that it is loaded from, and stores them. Doing it twice does
 * no harm. `onBuilt` is handed them before they are stored, which takes as long as starting them does.
 */
export async function buildRevision(
  env: Env,
  row: RevisionRow,
  logs: RolloutLog,
  onBuilt: (code: BuiltCode) => void,
): Promise<void> {
  const tarball = await readSource(env, row, logs);
  if (tarball.byteLength > MAX_TARBALL_BYTES) {
    throw new ProjectFailure(`The source is larger than ${MAX_TARBALL_BYTES} bytes`);
  }
  const { code, sourceMap } = await buildCode(tarball, row.langgraph_config_path);
  onBuilt(code);
  const packed = packCode(code);
  const { workspace_id: workspaceId, deployment_id: deploymentId, id: revisionId } = row;
  const ref = { workspaceId, deploymentId, revisionId };
  const stored = sourceMap === null ? null : storableMap(sourceMap, code.main);
  if (stored === null && sourceMap !== null) {
    logs.info("Its source map is too large: errors name the bundle");
  }
  await requireRoom(env, packed.byteLength + (stored?.length ?? 0));
  await Promise.all([
    stored === null ? undefined : env.SOURCES.put(sourceMapKey(ref), stored),
    env.SOURCES.put(builtCodeKey(ref), packed),
  ]);
  const names = Object.keys(code.modules).join(", ");
  logs.info(`Built ${names}: ${Math.ceil(packed.length / 1024)} KiB, starting at ${code.main}`);
}

async function readSource(env: Env, row: RevisionRow, logs: RolloutLog): Promise<ArrayBuffer> {
  if (row.source === "internal_template") {
    logs.info(`Building the template ${row.template_id}`);
    const tarball = templateTarball(row.template_id ?? "");
    if (tarball === null) {
      throw new ProjectFailure(`This installation has no template ${row.template_id}`);
    }
    return tarball;
  }
  const path = row.source_tarball_path ?? "";
  logs.info(`Building ${path}`);
  const object = await env.SOURCES.get(path);
  if (object === null) throw new ProjectFailure(`Nothing was uploaded to ${path}`);
  return object.arrayBuffer();
}
