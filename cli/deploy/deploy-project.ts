import type { ControlPlane, Secret, SourceRevision } from "../api/control-plane.ts";
import type { Deployment } from "../api/schemas.ts";
import { CliError } from "../cli-error.ts";
import type { LangGraphChoice } from "../project/langchain-source.ts";
import { buildTarball, CONFIG_IN_TARBALL } from "../project/tarball.ts";
import type { Progress } from "../terminal/progress.ts";
import { packSources } from "./pack-sources.ts";

/** An existing deployment by id, or a name; a deployment is created when none has the name. */
export type DeploymentTarget = { deploymentId: string } | { name: string };

export type DeployRequest = {
  configPath: string;
  target: DeploymentTarget;
  /** Deployment type; used only for a new deployment. */
  deploymentType: string;
  secrets: Secret[];
  /** Which LangChain the graphs are built with; the project's own by default. */
  langGraph?: LangGraphChoice | undefined;
  /** Where the project is built: on this machine, or on the platform, which then receives its sources. */
  build: "local" | "remote";
};

/** The uploaded archive, and the path of `langgraph.json` in it. */
type Upload = { bytes: Uint8Array; configPath: string };

export type RequestedRollout = {
  deployment: Deployment;
  revisionId: string;
  isNew: boolean;
};

/**
 * Builds and uploads a project, and requests its rollout. Resolves when the rollout has begun, not when it
 * has ended.
 */
export async function deployProject(
  api: ControlPlane,
  request: DeployRequest,
  progress: Progress,
): Promise<RequestedRollout> {
  progress.show(`Looking for ${describeTarget(request.target)} on ${api.url}`);
  const existing = await findTarget(api, request.target);

  const { bytes, configPath } = await (request.build === "local" ? built : sourcesOf)(
    request,
    progress,
  );
  progress.show("Uploading");
  const upload = await api.createUpload();
  await api.upload(upload, bytes);
  const source: SourceRevision = {
    source_tarball_path: upload.object_path,
    langgraph_config_path: configPath,
  };

  progress.show(existing === undefined ? "Creating the deployment" : "Creating a revision");
  const deployment = await requestRollout(api, { request, existing, source });
  progress.end();
  const revisionId = deployment.latest_revision_id;
  if (revisionId == null) throw new CliError(`deployment ${deployment.id} has no revision`);
  progress.line(
    `${existing === undefined ? "Created" : "Updated"} ${deployment.name}: deployment ${deployment.id}, revision ${revisionId}`,
  );
  return { deployment, revisionId, isNew: existing === undefined };
}

async function built(request: DeployRequest, progress: Progress): Promise<Upload> {
  progress.show("Building");
  const { bytes, graphs, warnings } = await buildTarball({
    configPath: request.configPath,
    ...(request.langGraph === undefined ? {} : { langGraph: request.langGraph }),
    onReadingSchemas: () => progress.show("Reading the schemas from the graphs' types"),
  });
  progress.end();
  for (const warning of warnings) progress.warn(warning);
  progress.line(`Built ${graphs.join(", ")}: ${kibibytes(bytes)}`);
  return { bytes, configPath: CONFIG_IN_TARBALL };
}

async function sourcesOf({ configPath }: DeployRequest, progress: Progress): Promise<Upload> {
  progress.show("Packing the sources");
  const packed = await packSources(configPath);
  progress.end();
  progress.line(`Packed ${packed.files} files of ${packed.root}: ${kibibytes(packed.bytes)}`);
  return packed;
}

function kibibytes({ length }: Uint8Array): string {
  return `${(length / 1024).toFixed(0)} KiB`;
}

async function findTarget(
  api: ControlPlane,
  target: DeploymentTarget,
): Promise<Deployment | undefined> {
  return "deploymentId" in target
    ? api.getDeployment(target.deploymentId)
    : api.findDeploymentByName(target.name);
}

async function requestRollout(
  api: ControlPlane,
  {
    request: { target, deploymentType, secrets },
    existing,
    source,
  }: { request: DeployRequest; existing: Deployment | undefined; source: SourceRevision },
): Promise<Deployment> {
  if (existing !== undefined) {
    return api.changeDeployment(existing.id, {
      revision_source: "internal_source",
      source_revision_config: source,
      secrets,
    });
  }
  return api.createDeployment({
    name: "name" in target ? target.name : "",
    source: "internal_source",
    source_config: { deployment_type: deploymentType },
    source_revision_config: source,
    secrets,
  });
}

function describeTarget(target: DeploymentTarget): string {
  return "name" in target ? target.name : `deployment ${target.deploymentId}`;
}
