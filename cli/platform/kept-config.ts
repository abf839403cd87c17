import { join } from "node:path";
import { BUILT } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { unlessUnchanged } from "./build-record.ts";
import { makePrivateFolder } from "./private-folder.ts";
import { readWorkerConfig, type WorkerConfig } from "./worker-options.ts";

const RECORD = "worker-config.json";

/** The files that wrangler reads. */
const CONFIG_FILES = ["wrangler.toml", ".dev.vars", ".env", ".env.local"];

/** The files that determine how the configuration is read; a change in them changes the result. */
const TOOLS = ["cli/platform/worker-options.ts", "package-lock.json"];

/**
 * Returns the Worker's configuration. Loading wrangler takes longer than most commands run, so the
 * configuration is only read again when it has changed. A package contains it prebuilt, and `settingsPath`
 * names its settings.
 */
export async function keptWorkerConfig(
  repoRoot: string,
  settingsPath?: string,
): Promise<WorkerConfig> {
  if (BUILT !== undefined) return readWorkerConfig(repoRoot, settingsPath);
  const home = join(repoRoot, ".threadworks");
  makePrivateFolder(home);
  const cloudflare = Object.entries(process.env).filter(([name]) => name.startsWith("CLOUDFLARE_"));
  return unlessUnchanged({
    recordFile: join(home, RECORD),
    key: [repoRoot, cloudflare],
    outputs: [],
    build: async () => ({
      result: await readWorkerConfig(repoRoot),
      inputs: [
        ...CONFIG_FILES.map((name) => join(repoRoot, name)),
        ...TOOLS.map((name) => join(REPO_ROOT, name)),
      ],
    }),
  });
}
