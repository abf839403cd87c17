import { type Command, Option } from "commander";

export type GlobalOptions = {
  state?: string;
  billingState?: string;
  remote?: boolean;
  env?: string;
  json?: boolean;
};

/** Adds the options that may stand before or after the command's name. */
export function addGlobalOptions(program: Command): Command {
  return program
    .option("--state <folder>", "a local platform's state (default: .threadworks/state)")
    .option(
      "--billing-state <folder>",
      "the state of the US region's platform, which stores the plans",
    )
    .option("--remote", "workspace, key: the deployed platform, with wrangler's credentials")
    .addOption(
      new Option("--env <region>", "workspace, key: the deployed region").choices(["us", "eu"]),
    )
    .option("--json", "print JSON on standard output");
}
