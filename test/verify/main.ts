import { join } from "node:path";
import { printTable } from "../../bench/support/table.ts";
import { createKey, createWorkspace } from "../../cli/database/identity.ts";
import { withDatabase } from "../../cli/database/open-database.ts";
import { PlatformProcess } from "../restart/support/platform-process.ts";
import { fuzz } from "./fuzz/fuzz.ts";
import { killSchedule } from "./kills/kills.ts";
import { load } from "./load/load.ts";
import type { PartResult, Target } from "./part.ts";
import { furnish } from "./tenants/furnish.ts";
import { tenantMatrix } from "./tenants/tenants.ts";

const REPO_ROOT = join(import.meta.dirname, "../..");
const TIME_LIMIT_MS = 30 * 60_000;
const FUZZ_REQUESTS = 20_000;
const HANG_MS = 5000;
const REQUESTS_PER_OPERATION = 10;

/** Rate limits would hide other problems, so they are off. */
const VARS = { RATE_LIMITS: "off", LOG_LEVEL: "error" };

const PARTS: Record<string, (seed: number) => Promise<PartResult>> = {
  fuzz: (seed) =>
    withPlatform(async (platform) => {
      const furnished = await furnish(await workspace(platform, "fuzz"), platform.s3);
      const { target, ids } = furnished;
      return fuzz(target, { seed, requests: FUZZ_REQUESTS, hangMs: HANG_MS, ids });
    }),
  tenants: (seed) =>
    withPlatform(async (platform) => {
      const one = async (name: string) => furnish(await workspace(platform, name), platform.s3);
      const tenants = {
        owner: await one("owner"),
        other: await one("other"),
        twin: await one("twin"),
      };
      return tenantMatrix(tenants, { seed, requestsPerOperation: REQUESTS_PER_OPERATION });
    }),
  kills: (seed) => killSchedule(seed),
  load: () => withPlatform(load),
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(
    `usage: npm run verify -- [${Object.keys(PARTS).join("] [")}], without any for all`,
  );
  process.exit(2);
}
const seed = Number(process.env["VERIFY_SEED"] ?? Math.floor(Math.random() * 1_000_000));
const rows: string[][] = [];
let failed = false;
const timer = setTimeout(() => {
  console.error(`The verification did not end within ${TIME_LIMIT_MS / 60_000} minutes`);
  process.exit(1);
}, TIME_LIMIT_MS);
for (const [name, run] of Object.entries(PARTS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  console.log(`${name} (VERIFY_SEED=${seed}) ...`);
  const startedAt = performance.now();
  const { figures, problems } = await run(seed);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  for (const problem of problems) console.log(`  ${problem}`);
  failed ||= problems.length > 0;
  rows.push(...figures.map(([what, figure]) => [`${name}: ${what}`, figure]));
  rows.push([`${name}: time`, `${seconds} s`]);
}
clearTimeout(timer);
console.log();
printTable(["", "figure"], rows);
console.log(failed ? "\nfailed" : "\npassed");
process.exitCode = failed ? 1 : 0;

async function withPlatform(
  use: (platform: PlatformProcess) => Promise<PartResult>,
): Promise<PartResult> {
  const platform = await PlatformProcess.start({ vars: VARS });
  try {
    return await use(platform);
  } finally {
    await platform.dispose();
  }
}

/** Creates a workspace beside the running platform, as the command line does. */
async function workspace({ url, stateDir }: PlatformProcess, name: string): Promise<Target> {
  return withDatabase(REPO_ROOT, { kind: "local", stateDir }, async (database) => {
    const { id } = await createWorkspace(database, name, "enterprise");
    const { key } = await createKey(database, { workspaceId: String(id), name });
    return { url, apiKey: String(key) };
  });
}
