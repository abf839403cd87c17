import { openAccount } from "../account/cloudflare-api.ts";
import { readInstallation } from "../account/installation-config.ts";
import { planOf } from "../account/plan.ts";
import { describeError } from "../cli-error.ts";
import { openApi, type ApiOptions } from "../commands/api-command.ts";
import { settingsOf } from "../deploy/choose-name.ts";
import { loadProjectConfig, type ProjectConfig } from "../project/langgraph-json.ts";
import { providerKeys } from "../project/provider-keys.ts";
import { serveProject } from "../testing/start-test-platform.ts";

/** The result of one check. The text of a problem says how to solve it. */
export type Finding = { ok: boolean; text: string };

const OLDEST_NODE = [20, 16] as const;

export function checkNode(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  if (!isOld) return found(`Node.js ${version}`);
  return problem(`Node.js ${version} is too old: install ${oldestMajor}.${oldestMinor} or later`);
}

/**
 * Checks that a project can be read and built, that its graphs load, and that its installed model providers
 * have their keys.
 */
export async function checkProject(path: string): Promise<Finding[]> {
  let project: ProjectConfig;
  try {
    project = loadProjectConfig(path);
  } catch (error) {
    return [problem(`${describeError(error)}: npx threadworks init makes a project`)];
  }
  const graphs = project.graphs.map(({ id }) => id).join(", ");
  const findings = [
    found(`${project.configPath} names ${graphs}`),
    ...project.warnings.map((warning) => problem(warning)),
    ...(await checkGraphsLoad(project)),
    ...checkKeys(project),
  ];
  const byText = new Map(findings.map((each) => [each.text, each]));
  return [...byText.values()];
}

/** Serves the project, as `threadworks dev` would, until its graphs are loaded. */
async function checkGraphsLoad({ configPath }: ProjectConfig): Promise<Finding[]> {
  const told: Finding[] = [];
  try {
    const { stop } = await serveProject({
      project: configPath,
      onLog: ({ source, level, message }) => {
        if (source === "platform" && level !== "info") told.push(problem(message));
      },
    });
    await stop();
  } catch (error) {
    return [...told, problem(describeError(error))];
  }
  return told.length > 0 ? told : [found("the graphs build and load")];
}

function checkKeys(project: ProjectConfig): Finding[] {
  return providerKeys(project).map(({ provider, variable, where }) => {
    if (where === "env") return found(`${variable} is set for ${provider}`);
    if (where === "nowhere") {
      return problem(`${provider} is installed, and ${variable} is not set: put it into .env`);
    }
    return found(
      `${variable} is set for ${provider}, in this shell: a deployment has it when "env" of langgraph.json names it`,
    );
  });
}

/** Checks that the platform a deployment would go to answers, and accepts the key. */
export async function checkPlatform(options: ApiOptions, path: string): Promise<Finding[]> {
  try {
    const project = loadProjectConfig(path);
    const api = openApi(options, settingsOf(project), project.projectDir);
    // The content of the list does not matter: the platform only answers when it accepts the key.
    await api.listDeployments().next();
    return [found("the platform answers, and takes the key")];
  } catch (error) {
    return [problem(`the platform: ${describeError(error)}`)];
  }
}

/** Checks which of the resources of an installation the account has. */
export async function checkAccount(path: string): Promise<Finding[]> {
  try {
    const { projectDir } = loadProjectConfig(path);
    const api = await openAccount(projectDir);
    const installation = readInstallation({
      project: projectDir,
      region: undefined,
      name: "threadworks",
    });
    const lines = await planOf(api, installation);
    return lines.map((line) =>
      line.startsWith("Would")
        ? problem(`${line.replace("Would", "up would")} Run npx threadworks up`)
        : found(line),
    );
  } catch (error) {
    return [problem(`the account: ${describeError(error)}`)];
  }
}

function found(text: string): Finding {
  return { ok: true, text };
}

function problem(text: string): Finding {
  return { ok: false, text };
}
