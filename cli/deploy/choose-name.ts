import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { readEnvFile, setEnvVariable } from "./env-file.ts";
import { deploymentName, NAME_VARIABLE } from "./deployment-name.ts";
import type { ProjectConfig } from "../project/langgraph-json.ts";
import { ask, canAsk } from "../terminal/ask.ts";
import type { Progress } from "../terminal/progress.ts";

/** Returns the variables of a project that commands use themselves, such as the name of its deployment. */
export function settingsOf(project: ProjectConfig): Record<string, string> {
  const file = settingsFile(project);
  return { ...(file === undefined ? {} : readEnvFile(file)), ...project.env };
}

/**
 * Returns the `.env` file of a project, which may not exist yet; undefined when `langgraph.json` has the
 * variables inline or names a file that does not exist.
 */
function settingsFile({ envFile, env, projectDir }: ProjectConfig): string | undefined {
  if (envFile !== undefined) return existsSync(envFile) ? envFile : undefined;
  return Object.keys(env).length > 0 ? undefined : join(projectDir, ".env");
}

/**
 * Returns the deployment's name: the given one, the one used before, the one that the user types, or that of
 * the folder, in this order. A name that the user chose is written to the project's `.env`, unless `input` is
 * false.
 */
export async function chooseName(
  project: ProjectConfig,
  { given, input }: { given: string | undefined; input: boolean },
  progress: Progress,
): Promise<string> {
  const asks = input && canAsk();
  const earlier = process.env[NAME_VARIABLE] || settingsOf(project)[NAME_VARIABLE];
  const chosen = given || earlier || (asks ? await askForName(project) : defaultName(project));
  const name = deploymentName(chosen);
  if (name !== chosen) progress.line(`"${chosen}" becomes the name ${name}`);
  const file = settingsFile(project);
  const isChosen = asks || (input && given !== undefined);
  if (isChosen && file !== undefined && settingsOf(project)[NAME_VARIABLE] !== name) {
    await setEnvVariable(file, NAME_VARIABLE, name);
    progress.line(`Wrote the deployment's name to ${file}`);
  }
  return name;
}

async function askForName(project: ProjectConfig): Promise<string> {
  const name = defaultName(project);
  return (await ask(`Deployment name [${name}]: `)) || name;
}

function defaultName({ projectDir }: ProjectConfig): string {
  return deploymentName(basename(projectDir).toLowerCase());
}
