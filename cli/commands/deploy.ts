import { type Command, Option } from "commander";
import type { ControlPlane } from "../api/control-plane.ts";
import { readNewest } from "../api/log-reader.ts";
import { CliError } from "../cli-error.ts";
import { chooseName, settingsOf } from "../deploy/choose-name.ts";
import { deployProject, type DeploymentTarget } from "../deploy/deploy-project.ts";
import { NAME_VARIABLE } from "../deploy/deployment-name.ts";
import { secretsOf } from "../deploy/secrets.ts";
import { watchRevision } from "../deploy/watch-revision.ts";
import { loadProjectConfig, type ProjectConfig } from "../project/langgraph-json.ts";
import { providerKeys } from "../project/provider-keys.ts";
import { printJson } from "../terminal/print.ts";
import { Progress } from "../terminal/progress.ts";
import { addApiOptions, openApi, type ApiOptions } from "./api-command.ts";
import { addProjectOptions, configPathOf, type ProjectOptions } from "./project-options.ts";

type DeployOptions = ApiOptions &
  ProjectOptions & {
    name?: string;
    deploymentId?: string;
    deploymentType: string;
    build: "local" | "remote";
    wait: boolean;
    input: boolean;
  };

type Rollout = { deploymentId: string; revisionId: string; name: string };

const ROLLOUT_TIMEOUT_MS = 900_000;
const LAST_LOG_LINES = 30;

export function addDeploy(program: Command): void {
  addApiOptions(addProjectOptions(program.command("deploy")))
    .description("build a project, upload it, and roll it out")
    .option(
      "--name <name>",
      `the name of the deployment, or set ${NAME_VARIABLE} (default: the folder's)`,
    )
    .option("--deployment-id <id>", "an existing deployment, in place of a name")
    .addOption(
      new Option("--deployment-type <type>", "the type of a new deployment")
        .choices(["dev", "prod"])
        .default("dev"),
    )
    .addOption(
      new Option(
        "--build <where>",
        "build it here, or upload its sources for the platform to build",
      )
        .choices(["local", "remote"])
        .default("local"),
    )
    .option("--no-wait", "do not wait for the rollout")
    .option("--no-input", "never ask, and leave .env as it is")
    .action((dir: string | undefined, _options, command: Command) =>
      deploy(dir, command.optsWithGlobals()),
    );
}

async function deploy(dir: string | undefined, options: DeployOptions): Promise<void> {
  if (options.build === "remote" && options.langgraph === "ours") {
    throw new CliError(
      "--langgraph ours needs --build local: the platform builds with what the lockfile names",
    );
  }
  const progress = new Progress();
  const project = loadProjectConfig(configPathOf(dir, options));
  const api = openApi(options, settingsOf(project), project.projectDir);
  const target = await chooseTarget(project, options, progress);
  const { secrets, reserved } = secretsOf(project.env);
  if (reserved.length > 0)
    progress.line(`Not sent, as the platform sets it: ${reserved.join(", ")}`);
  const left = providerKeys(project).filter(({ where }) => where === "shell");
  for (const { variable } of left) {
    progress.line(
      `Not sent: ${variable}, which is set in this shell and not in "env" of langgraph.json. To send it, set "env": ["${variable}"] there.`,
    );
  }

  const { configPath } = project;
  const { deploymentType, build } = options;
  try {
    const { langgraph: langGraph } = options;
    const request = { configPath, target, deploymentType, secrets, langGraph, build };
    const { deployment, revisionId } = await deployProject(api, request, progress);
    const rollout = { deploymentId: deployment.id, revisionId, name: deployment.name };
    if (options.wait) await waitFor(rollout, api, options, progress);
    else if (options.json === true) printJson(resultOf("started", rollout));
  } finally {
    progress.end();
  }
}

async function chooseTarget(
  project: ProjectConfig,
  { name, deploymentId, input }: DeployOptions,
  progress: Progress,
): Promise<DeploymentTarget> {
  if (deploymentId === undefined) {
    return { name: await chooseName(project, { given: name, input }, progress) };
  }
  if (name === undefined) return { deploymentId };
  throw new CliError("name the deployment by --name or by --deployment-id, not by both");
}

async function waitFor(
  rollout: Rollout,
  api: ControlPlane,
  options: DeployOptions,
  progress: Progress,
): Promise<void> {
  const startedAt = performance.now();
  const leave = (): void => {
    progress.end();
    progress.line(`The rollout of revision ${rollout.revisionId} continues without this command.`);
    process.exit(130);
  };
  process.once("SIGINT", leave);
  const timeoutMs = ROLLOUT_TIMEOUT_MS;
  const revision = await watchRevision(api, rollout, { progress, timeoutMs });
  process.off("SIGINT", leave);
  progress.end();
  const { source_config } = await api.getDeployment(rollout.deploymentId);
  const url = source_config?.custom_url ?? undefined;

  if (revision.status === "DEPLOYED") {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    progress.line(`Deployed ${rollout.name} in ${seconds} s`);
    if (options.json === true) printJson({ ...resultOf("succeeded", rollout), url });
    else if (url !== undefined) console.log(url);
    return;
  }
  const reason = revision.status_message ?? "";
  const failure = `revision ${rollout.revisionId} of ${rollout.name} is ${revision.status}${reason && `: ${reason}`}`;
  if (options.json !== true) throw new CliError(failure);
  const logs = await lastLogLines(api, rollout);
  printJson({
    ...resultOf("failed", rollout),
    revision_status: revision.status,
    reason,
    url,
    logs,
  });
  console.error(`error: ${failure}`);
  process.exitCode = 1;
}

function resultOf(status: string, { deploymentId, revisionId, name }: Rollout): object {
  return { event: "result", status, deployment_id: deploymentId, revision_id: revisionId, name };
}

async function lastLogLines(
  api: ControlPlane,
  { deploymentId, revisionId }: Rollout,
): Promise<string[]> {
  const logs = [
    api.buildLogs(deploymentId, revisionId),
    api.deployLogs(deploymentId, revisionId),
  ].map((log) => readNewest(log, {}, LAST_LOG_LINES).catch(() => []));
  return (await Promise.all(logs))
    .flat()
    .map(({ message }) => message)
    .slice(-LAST_LOG_LINES);
}
