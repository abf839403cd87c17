import { join } from "node:path";
import { type Command, Option } from "commander";
import { chooseConnection, type LocalPlatform } from "../api/connection.ts";
import { ControlPlane } from "../api/control-plane.ts";
import { HttpClient } from "../api/http-client.ts";
import { CliError } from "../cli-error.ts";
import { readEnvFile } from "../deploy/env-file.ts";
import { defaultState, settingsFile, startCommandWith } from "../installation.ts";
import { pathFromUser } from "../invocation.ts";
import { runningPlatformUrl } from "../platform/running-platform.ts";
import type { GlobalOptions } from "./global-options.ts";

export type ApiOptions = GlobalOptions & { apiKey?: string; hostUrl?: string };

/** Adds the options of every command that uses a platform's API. */
export function addApiOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--api-key <key>",
        "the API key; or set THREADWORKS_API_KEY, LANGGRAPH_HOST_API_KEY, LANGSMITH_API_KEY or LANGCHAIN_API_KEY",
      ),
    )
    .option(
      "--host-url <url>",
      "the platform's URL; or set THREADWORKS_URL or LANGGRAPH_HOST_URL (default: the platform on this machine)",
    );
}

/**
 * Returns a client of the platform that the options or the environment name. `settings` are variables of a
 * project, and `project` is its folder.
 */
export function openApi(
  options: ApiOptions,
  settings: Record<string, string> = readEnvFile(join(pathFromUser("."), ".env")),
  project: string = pathFromUser("."),
): ControlPlane {
  if (options.remote === true || options.env !== undefined) {
    throw new CliError(
      "--remote and --env are for workspace and key: give the platform's URL with --host-url",
    );
  }
  const variables = { ...settings, ...process.env };
  return new ControlPlane(
    new HttpClient(chooseConnection(options, variables, localPlatform(options, project))),
  );
}

function localPlatform({ state }: GlobalOptions, project: string): LocalPlatform | undefined {
  const stateDir = state === undefined ? defaultState(project) : pathFromUser(state);
  const url = runningPlatformUrl(stateDir);
  if (url === undefined) {
    if (state === undefined) return undefined;
    throw new CliError(
      `nothing serves ${stateDir}: start it with ${startCommandWith(`--state ${stateDir}`)}`,
    );
  }
  return { url, apiKey: readEnvFile(settingsFile(project))["LOCAL_API_KEY"] };
}
