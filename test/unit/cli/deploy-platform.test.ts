import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import {
  databaseBindings,
  missingSettings,
  wranglerSteps,
} from "../../../cli/platform/deploy-steps.ts";
import { temporaryProject } from "./support/temporary-project.ts";

const REPO_ROOT = join(import.meta.dirname, "../../..");
const TIMEOUT_MS = 240_000;

/** Runs `npm run deploy -- <args>` as on a machine without an account. */
async function deploy(...args: string[]): Promise<{ code: number | null; output: string }> {
  const home = mkdtempSync(join(tmpdir(), "threadworks-home-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const child = spawn(process.execPath, [join(REPO_ROOT, "scripts/deploy.mjs"), ...args], {
    cwd: REPO_ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: home, XDG_CONFIG_HOME: home, NO_COLOR: "1" },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}

/** Reads `env.NAME (value)` of wrangler's list of bindings. */
function bindingsIn(output: string): Record<string, string> {
  const lines = [...output.matchAll(/^env\.(\w+) \((.*)\) {2,}(\S.*?) *$/gm)];
  return Object.fromEntries(lines.map(([, name, value, kind]) => [name, `${kind}: ${value}`]));
}

describe("npm run deploy -- --env eu --dry-run", () => {
  test(
    "builds, migrates and checks the region without an account",
    { timeout: TIMEOUT_MS },
    async ({ expect }) => {
      const { code, output } = await deploy("--env", "eu", "--dry-run");

      expect([code, output]).toEqual([0, expect.stringContaining("Nothing was deployed.")]);
      expect(output).toContain("Built the graphs");
      expect(output).toContain("commands executed successfully");
      expect(bindingsIn(output)).toMatchObject({
        DB: "D1 Database: threadworks-eu",
        PAYLOADS: "R2 Bucket: threadworks-payloads-eu (eu)",
        SOURCES: "R2 Bucket: threadworks-sources-eu (eu)",
        EXPORT_STEPS: "Queue: threadworks-export-steps-eu",
        ROLLOUTS: "Queue: threadworks-rollouts-eu",
        THREADS: "Durable Object: ThreadObject",
        REGION: 'Environment Variable: "eu"',
        JURISDICTION: 'Environment Variable: "eu"',
      });
      const warnings = [...output.matchAll(/\n +- (.*)/g)].map(([, text]) => text);
      // All of these warnings are about the bucket of `wrangler dev`, which no region has.
      expect(new Set(warnings)).toEqual(
        new Set([
          '"local_dev.experimental_s3_credentials" fields are experimental and may change or break at any time.',
          '"env.eu" environment configuration',
          'There is a r2_buckets binding with name "EXPORTS" at the top level, but not on "env.eu".',
        ]),
      );
      expect(output).not.toContain("-us");
    },
  );
});

describe("npm run deploy", () => {
  test(
    "reports what wrangler.toml lacks, and does nothing",
    { timeout: TIMEOUT_MS },
    async ({ expect }) => {
      const missing = missingSettings(REPO_ROOT, "eu");
      expect(missing).not.toEqual([]);
      const { code, output } = await deploy("--env", "eu");

      expect(code).toBe(1);
      for (const setting of missing) expect(output).toContain(setting);
      expect(output).not.toContain("Built the graphs");
    },
  );

  test("reports a thread database without a binding", ({ expect }) => {
    const written = readFileSync(join(REPO_ROOT, "wrangler.toml"), "utf8");
    const folder = temporaryProject({
      "wrangler.toml": written.replace(
        "[vars.THREAD_DATABASES]",
        '[vars.THREAD_DATABASES]\nTHREADS_2 = ["*"]\nDB = []',
      ),
    });

    const lacking = missingSettings(folder, undefined).filter(
      (setting) => !missingSettings(REPO_ROOT, undefined).includes(setting),
    );

    expect(lacking).toEqual(["d1_databases: THREADS_2, which vars.THREAD_DATABASES names"]);
  });

  test("knows two regions", { timeout: TIMEOUT_MS }, async ({ expect }) => {
    const { code, output } = await deploy("--env", "asia");
    expect([code, output]).toEqual([1, "error: --env asia is not us or eu\n"]);
  });

  test("migrates the deployed databases before it deploys", ({ expect }) => {
    const target = { dryRun: false, scratchDir: "", databases: ["DB"] };
    expect(databaseBindings(REPO_ROOT, "us")).toEqual(["DB"]);
    expect(wranglerSteps({ ...target, env: "us", databases: ["DB", "THREADS_2"] })).toEqual([
      ["d1", "migrations", "apply", "DB", "--remote", "--env", "us"],
      ["d1", "migrations", "apply", "THREADS_2", "--remote", "--env", "us"],
      ["deploy", "--env", "us"],
    ]);
    expect(wranglerSteps({ ...target, env: undefined })).toEqual([
      ["d1", "migrations", "apply", "DB", "--remote", "--env", ""],
      ["deploy", "--env", ""],
    ]);
  });
});
