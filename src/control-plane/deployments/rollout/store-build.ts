import { requireRoom } from "../../../lib/local-disk.ts";
import { MAX_TARBALL_BYTES } from "../../../lib/project-manifest.ts";
import {
  type BuiltCode,
  builtCodeKey,
  packCode,
  sourceMapKey,
} from "../../../revision-host/built-code.ts";
import { storableMap } from "../../../revision-host/source-positions.ts";
import { buildCode } from "./build.ts";
import { ProjectFailure } from "./project-failure.ts";
import { type RevisionBuild, builtSource } from "./rollout-source.ts";

/**
 * Builds a revision's source into the modules that it is loaded from, and stores them. Repeating this is harmless.
 * `onBuilt` receives the modules before they are stored, because storing them takes as long as starting them.
 */
export async function buildRevision({
  onBuilt,
  ...building
}: RevisionBuild & { onBuilt: (code: BuiltCode) => void }): Promise<void> {
  const { env, row, logs } = building;
  const { tarball, configPath } = await builtSource(building);
  if (tarball.byteLength > MAX_TARBALL_BYTES) {
    throw new ProjectFailure(`The source is larger than ${MAX_TARBALL_BYTES} bytes`);
  }
  const { code, sourceMap } = await buildCode(tarball, configPath);
  onBuilt(code);
  const packed = packCode(code);
  const { workspace_id: workspaceId, deployment_id: deploymentId, id: revisionId } = row;
  const ref = { workspaceId, deploymentId, revisionId };
  const stored = sourceMap === null ? null : storableMap(sourceMap, code.main);
  if (stored === null && sourceMap !== null) {
    logs.info("The source map is too large to be stored: stack traces name the bundle");
  }
  await requireRoom(env, packed.byteLength + (stored?.length ?? 0));
  await Promise.all([
    stored === null ? undefined : env.SOURCES.put(sourceMapKey(ref), stored),
    env.SOURCES.put(builtCodeKey(ref), packed),
  ]);
  const others = Object.keys(code.modules).length - 1;
  const files = others === 1 ? "one other file" : `${others} other files`;
  logs.info(`Built ${code.main} and ${files}: ${Math.ceil(packed.length / 1024)} KiB`);
}
