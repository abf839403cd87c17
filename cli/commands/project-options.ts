import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { addLangGraphOption, type GraphsOptions } from "../graphs-options.ts";
import { pathFromUser } from "../invocation.ts";

export type ProjectOptions = GraphsOptions;

/** Adds the options that name a project, by its folder or by its `langgraph.json`. */
export function addProjectOptions(command: Command): Command {
  return addLangGraphOption(
    command
      .argument("[dir]", "the project's folder", undefined)
      .option("-c, --config <file>", "the project's langgraph.json"),
  );
}

/** Returns the path of the given project, or of the current folder. */
export function configPathOf(dir: string | undefined, { config }: ProjectOptions): string {
  if (dir !== undefined && config !== undefined) {
    throw new CliError("name the project by its folder or by --config, not by both");
  }
  return pathFromUser(dir ?? config ?? ".");
}
