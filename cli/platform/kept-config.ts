import { join } from "node:path";
import { BUILT } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { unlessUnchanged } from "./build-record.ts";
import { makePrivateFolder } from "./private-folder.ts";
import { readWorkerConfig, type WorkerConfig } from "./worker-options.ts";

const RECORD = "worker-config.json";

/** What wrangler reads. */
const CONFIG_FILES = ["wrangler.toml", ".dev.vars", ".env", ".env.local"];

/** What reads it: a change of it changes what is read. */
const TOOLS = ["cli/platform/worker-options.ts", "package-lock.json"];

/**
 * The Worker's configuration. Wrangler, which takes longer to load than most commands do as a whole, reads it only
 * when it has changed since it was read last; a package brings what was read, and `settingsPath` names its settings.
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
