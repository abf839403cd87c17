import { createTarDecoder } from "modern-tar";
import { selectDeployment } from "../../../db/deployments-repo.ts";
import type { revisions } from "../../../db/deployments-schema.ts";
import type { RevisionRow } from "../../../db/revisions-repo.ts";
import { pinCommit } from "../../../db/rollouts-repo.ts";
import { parseSettings } from "../../../env.ts";
import { MANIFEST_FILE } from "../../../lib/project-manifest.ts";
import { MAX_ARCHIVE_UNPACKED_BYTES } from "../../../lib/remote-build.ts";
import type { RevisionRef } from "../../../lib/revision-ref.ts";
import { onlySecret, openSecrets } from "../../../revision-host/revision-secrets.ts";
import { GITHUB_TOKEN } from "../../../secrets/secret-names.ts";
import type { Lease } from "../../../work/lease.ts";
import { buildInIsolate } from "../../builds/build-isolate.ts";
import { fetchArchive, resolveCommit } from "../../builds/git-host.ts";
import { integrationOf } from "../../integrations/github-integration.ts";
import { storedConfig } from "../deployment-json.ts";
import { parseRepositoryUrl } from "../repository-url.ts";
import { templateTarball } from "../revision-source.ts";
import { ProjectFailure } from "./project-failure.ts";
import type { RolloutLog } from "./rollout-log.ts";

export type RolloutLease = Lease<RevisionRef, typeof revisions>;

/** The parts of a rollout that its build uses. */
export type RevisionBuild = {
  env: Env;
  exports: Cloudflare.Exports;
  lease: RolloutLease;
  row: RevisionRow;
  logs: RolloutLog;
};

/** The default configuration file of an unbuilt project. */
const CONFIG_FILE = "langgraph.json";

/** Git's name for a repository's default branch. */
const DEFAULT_REF = "HEAD";

/**
 * Returns the tarball of a revision's built project, and the file that must be in it. A source that is not built
 * yet, a repository or an upload of sources, is built here. Throws a `ProjectFailure` for failures that the
 * project causes.
 */
export async function builtSource(
  building: RevisionBuild,
): Promise<{ tarball: ArrayBuffer; configPath: string | null }> {
  const { env, row, logs } = building;
  if (row.source === "internal_template") {
    logs.info(`Building the template ${row.template_id}`);
    const tarball = await templateTarball(env, row.template_id ?? "");
    if (tarball !== null) return { tarball, configPath: null };
    throw new ProjectFailure(`This installation has no template ${row.template_id}`);
  }
  if (row.source === "github") {
    const archive = await readRepository(building);
    return { tarball: await build(building, archive, { isInFolder: true }), configPath: null };
  }
  const path = row.source_tarball_path ?? "";
  logs.info(`Building ${path}`);
  const object = await env.SOURCES.get(path);
  if (object === null) throw new ProjectFailure(`Nothing was uploaded to ${path}`);
  const tarball = await object.arrayBuffer();
  const configPath = row.langgraph_config_path;
  if (!(await isUnbuilt(tarball, configPath ?? CONFIG_FILE))) return { tarball, configPath };
  const built = await build(building, new Uint8Array(tarball), { isInFolder: false });
  return { tarball: built, configPath: null };
}

/** Returns the archive of the revision's commit. The commit's SHA is stored before the archive is fetched. */
async function readRepository({ env, lease, row, logs }: RevisionBuild): Promise<Uint8Array> {
  const settings = parseSettings(env);
  const { githubUrl, githubApiUrl, encryptionKeys } = settings;
  const of = { workspaceId: row.workspace_id, deploymentId: row.deployment_id };
  const [found, secrets] = await Promise.all([
    selectDeployment(env.DB, of),
    openSecrets(encryptionKeys, of, onlySecret(GITHUB_TOKEN, row.secrets)),
  ]);
  const { repo_url: url = null, integration_id } =
    found === undefined ? {} : storedConfig(found.deployment);
  const repository = url === null ? null : parseRepositoryUrl(url, githubUrl);
  if (repository === null) {
    throw new ProjectFailure(`The repository ${url} is not one of ${githubUrl}`);
  }
  const integration = integrationOf(settings, row.workspace_id);
  const token = secrets[GITHUB_TOKEN] ?? null;
  // The deployment's own token comes first. The installation's token is used only for deployments that requested
  // it, while they may use it.
  const host =
    token === null && integration !== null && integration.id === integration_id
      ? integration.host
      : { apiUrl: githubApiUrl, token, tokenName: GITHUB_TOKEN };
  let sha = row.repo_commit_sha;
  if (sha === null) {
    const ref = row.repo_ref ?? DEFAULT_REF;
    sha = await resolveCommit(host, repository, ref);
    lease.require(await pinCommit(env.DB, lease.held, { sha, now: Date.now() }));
    logs.info(`${row.repo_ref ?? "The default branch"} of ${url} is at ${sha}`);
  }
  const archive = await fetchArchive(host, repository, sha);
  logs.info(`Building ${url} at ${sha}: ${Math.ceil(archive.length / 1024)} KiB`);
  await logs.flush();
  return archive;
}

async function build(
  { env, exports, row, logs }: RevisionBuild,
  archive: Uint8Array,
  { isInFolder }: { isInFolder: boolean },
): Promise<ArrayBuffer> {
  const configPath = row.langgraph_config_path ?? CONFIG_FILE;
  const request = { archive, isInFolder, configPath };
  const answer = await buildInIsolate(env, exports, request, {
    workspaceId: row.workspace_id,
    tell: async (lines) => {
      for (const { level, message } of lines) logs[level](message);
      await logs.flush();
    },
  });
  if (!answer.ok) throw new ProjectFailure(answer.message);
  return new Uint8Array(answer.tarball).buffer;
}

/**
 * Whether a tarball has a project's configuration but no manifest of a build. False when it is not a tarball,
 * which is reported later.
 */
async function isUnbuilt(tarball: ArrayBuffer, configPath: string): Promise<boolean> {
  let [hasConfig, seen] = [false, 0];
  try {
    const entries = new Blob([tarball])
      .stream()
      .pipeThrough(new DecompressionStream("gzip"))
      .pipeThrough(createTarDecoder());
    for await (const { header, body } of entries) {
      await body.cancel();
      seen += header.size;
      if (seen > MAX_ARCHIVE_UNPACKED_BYTES) return false;
      const path = header.name.replace(/^(?:\.\/)+/, "");
      if (path === MANIFEST_FILE) return false;
      hasConfig ||= path === configPath;
    }
  } catch {
    return false;
  }
  return hasConfig;
}
