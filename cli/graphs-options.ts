import { join } from "node:path";
import type { Command } from "commander";
import { pathFromUser, REPO_ROOT } from "./invocation.ts";
import { type LangGraphChoice, parseLangGraphChoice } from "./project/langchain-source.ts";

export type GraphsOptions = { config?: string; langgraph?: LangGraphChoice };

/** Adds the options by which the scripts of this repository select the project and its LangGraph. */
export function addGraphsOptions(command: Command): Command {
  return addLangGraphOption(
    command.option(
      "--config <path>",
      "the project's langgraph.json, or its folder (default: the langgraph.json of this repository)",
    ),
  );
}

export function addLangGraphOption(command: Command): Command {
  return command.option(
    "--langgraph <whose>",
    'build with the LangGraph of the "project", or with "ours" (default: project)',
    parseLangGraphChoice,
  );
}

/** Returns the path of the given project, or of this repository's own. */
export function ownConfigPath({ config }: GraphsOptions): string {
  return config === undefined ? join(REPO_ROOT, "langgraph.json") : pathFromUser(config);
}
