import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { CliError, describeError } from "./cli-error.ts";
import { REPO_ROOT } from "./invocation.ts";
import {
  databaseBindings,
  missingSettings,
  neededSecrets,
  readEnvironment,
  wranglerSteps,
} from "./platform/deploy-steps.ts";

const require = createRequire(import.meta.url);

async function deploy(): Promise<void> {
  const { env: name, dryRun, config } = readOptions();
  const env = readEnvironment(name);
  if (env === null) throw new CliError(`--env ${name} is not us or eu`);
  const missing = missingSettings(REPO_ROOT, env);
  if (missing.length > 0) {
    const list = missing.map((setting) => `  ${setting}`).join("\n");
    if (!dryRun) throw new CliError(`wrangler.toml is not complete:\n${list}`);
    console.log(`wrangler.toml still needs, before this can be deployed:\n${list}`);
  }
  const scratchDir = mkdtempSync(join(tmpdir(), "threadworks-deploy-"));
  try {
    await run([
      join(REPO_ROOT, "cli/build-worker-graphs.ts"),
      ...(config === undefined ? [] : ["--config", config]),
    ]);
    const databases = databaseBindings(REPO_ROOT, env);
    for (const args of wranglerSteps({ env, dryRun, scratchDir, databases })) await wrangler(args);
  } finally {
    rmSync(scratchDir, { recursive: true, force: true });
  }
  const where = env === undefined ? "" : ` --env ${env}`;
  const secrets = neededSecrets(env).join(", ");
  console.log(
    dryRun
      ? "Nothing was deployed. The graphs build, the migrations apply, and wrangler accepts the Worker."
      : `Deployed. It needs the secrets ${secrets}: wrangler secret put <name>${where}`,
  );
}

function readOptions(): { env?: string; dryRun: boolean; config?: string } {
  return new Command("npm run deploy --")
    .description(
      "Deploys the platform to Cloudflare: its graphs, its database migrations, its Worker.",
    )
    .option(
      "--env <region>",
      "a region of wrangler.toml, us or eu (default: its top level, one installation)",
    )
    .option("--dry-run", "do what needs no account, and change nothing", false)
    .option("--config <path>", "the project's langgraph.json, or its folder")
    .showHelpAfterError()
    .parse()
    .opts();
}

async function wrangler(args: string[]): Promise<void> {
  console.log(`\n> wrangler ${args.join(" ")}`);
  const bin = require.resolve("wrangler/package.json").replace("package.json", "bin/wrangler.js");
  await run([bin, ...args]);
}

/** Runs a Node script of this repository in this terminal. Throws when it fails. */
async function run(args: string[]): Promise<void> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
    cwd: REPO_ROOT,
    stdio: "inherit",
  });
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  if (code !== 0) throw new CliError(`a step failed (${signal ?? `exit code ${code}`}); see above`);
}

try {
  await deploy();
} catch (error) {
  console.error(`error: ${describeError(error)}`);
  process.exit(1);
}
