import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { ask, canAsk } from "../terminal/ask.ts";
import { Progress } from "../terminal/progress.ts";
import { type AccountOptions, addAccountOptions, installationsOf } from "./account-options.ts";

type DownOptions = AccountOptions & { withData: boolean; yes: boolean };

export function addDown(program: Command): void {
  addAccountOptions(program.command("down"))
    .description("take a platform that up made off the network")
    .option("--with-data", "remove everything, with threads, traces and keys, for good", false)
    .option("--yes", "do not ask for confirmation", false)
    .action((dir: string | undefined, _options, command: Command) =>
      runDown(dir, command.optsWithGlobals()),
    );
}

async function runDown(dir: string | undefined, options: DownOptions): Promise<void> {
  const { installations } = installationsOf(dir, options);
  const { withData: data } = options;
  const buckets = installations.flatMap(({ config }) =>
    config.r2_buckets.map(({ bucket_name }) => bucket_name),
  );
  if (!options.yes) await confirm(options.name, data ? buckets : undefined);
  const [{ down }, { openAccount }] = await Promise.all([
    import("../account/down.ts"),
    import("../account/cloudflare-api.ts"),
  ]);
  const api = await openAccount(process.cwd());
  const progress = new Progress();
  try {
    for (const installation of installations.toReversed()) {
      await down(installation, { api, data, progress });
    }
  } finally {
    progress.end();
  }
}

/** Asks for confirmation. `buckets` are emptied and removed; undefined when all data stays. */
async function confirm(name: string, buckets: string[] | undefined): Promise<void> {
  if (!canAsk())
    throw new CliError("there is no terminal to ask for confirmation: confirm with --yes");
  const what =
    buckets === undefined
      ? `This takes ${name} off the network; its data stays.`
      : `This removes ${name} with all threads, traces and keys and all that is in the buckets ${buckets.join(", ")}, for good.`;
  if ((await ask(`${what} Type ${name} to continue: `)) !== name) {
    throw new CliError("nothing was changed");
  }
}
