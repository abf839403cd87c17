import type { Command } from "commander";
import { REGIONS, type Region } from "../../src/lib/region.ts";
import { type Installation, readInstallation } from "../account/installation-config.ts";
import { CliError } from "../cli-error.ts";
import { loadProjectConfig } from "../project/langgraph-json.ts";
import type { GlobalOptions } from "./global-options.ts";
import { configPathOf, type ProjectOptions } from "./project-options.ts";

export type AccountOptions = GlobalOptions & ProjectOptions & { name: string; regions: boolean };

/** Adds the options that `up` and `down` share: the project, and its installations. */
export function addAccountOptions(command: Command): Command {
  return command
    .argument("[dir]", "the project's folder", undefined)
    .option("-c, --config <file>", "the project's langgraph.json")
    .option("--name <name>", "the prefix of all names in the account", "threadworks")
    .option("--regions", "two installations, US and EU, that share nothing but plans", false);
}

/**
 * Returns the installations in the order in which `up` needs them: the US first, because the EU asks it for
 * plans.
 */
export function installationsOf(
  dir: string | undefined,
  options: AccountOptions,
): { project: string; installations: Installation[] } {
  if (!/^[a-z][a-z0-9-]{1,40}[a-z0-9]$/.test(options.name)) {
    throw new CliError(`--name ${options.name}: give small letters, digits and dashes`);
  }
  const { projectDir } = loadProjectConfig(configPathOf(dir, options));
  const regions: readonly (Region | undefined)[] = options.regions ? REGIONS : [undefined];
  const installations = regions.map((region) =>
    readInstallation({ project: projectDir, region, name: options.name }),
  );
  return { project: projectDir, installations };
}
