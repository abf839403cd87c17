import type { Command } from "commander";
import type { Database } from "../database/database.ts";
import { printJson } from "../terminal/print.ts";
import { Progress } from "../terminal/progress.ts";
import { type AccountOptions, addAccountOptions, installationsOf } from "./account-options.ts";

type UpOptions = AccountOptions & { dryRun: boolean; url?: string };

export function addUp(program: Command): void {
  addAccountOptions(program.command("up"))
    .description(
      "make or update a platform in the Cloudflare account that wrangler is logged in to",
    )
    .option("--dry-run", "print what would be made, and change nothing", false)
    .option("--url <url>", "where the platform answers, when it has a domain of its own")
    .action((dir: string | undefined, _options, command: Command) =>
      runUp(dir, command.optsWithGlobals()),
    );
}

async function runUp(dir: string | undefined, options: UpOptions): Promise<void> {
  const { project, installations } = installationsOf(dir, options);
  // Loaded on demand: its modules include the bundlers, which other commands do not need.
  const [{ up }, { planOf }, { listSecrets, newSecret }, { openAccount }] = await Promise.all([
    import("../account/up.ts"),
    import("../account/plan.ts"),
    import("../account/secrets.ts"),
    import("../account/cloudflare-api.ts"),
  ]);
  const api = await openAccount(project);
  const progress = new Progress();
  if (options.dryRun) {
    for (const installation of installations) {
      progress.show(`Looking up the resources of ${installation.config.name}`);
      const lines = await planOf(api, installation);
      progress.end();
      for (const line of lines) console.log(line);
    }
    return;
  }
  try {
    const shared: Record<string, string> = {};
    if (options.regions) {
      const has = await Promise.all(
        installations.map(({ config }) => listSecrets(api, config.name)),
      );
      const isShared = has.every((names) => names?.has("REGION_SECRET") ?? false);
      if (!isShared) shared["REGION_SECRET"] = newSecret();
    }
    let billing: Database | undefined;
    let billingUrl: string | undefined;
    for (const installation of installations) {
      const { vars, name } = installation.config;
      if (billingUrl !== undefined && vars["BILLING_URL"] === "") vars["BILLING_URL"] = billingUrl;
      const running = await up(installation, {
        api,
        project,
        url: options.url,
        shared,
        billing,
        progress,
      });
      billing ??= running.database;
      billingUrl ??= running.url;
      if (options.json === true) printJson({ name, url: running.url, api_key: running.apiKey });
      else console.log(resultText(name, running.url, running.apiKey));
    }
  } finally {
    progress.end();
  }
}

function resultText(name: string, url: string, apiKey: string | undefined): string {
  const key =
    apiKey ??
    "created by an earlier up on another machine; npx threadworks key create --remote creates another";
  return `${name}\n  platform  ${url}\n  console   ${url}/console\n  API key   ${key}`;
}
