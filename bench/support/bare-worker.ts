import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadMiniflare } from "../../cli/platform/miniflare.ts";
import { createMiniflare } from "../../cli/platform/worker-options.ts";
import { recordWorkerdPid } from "../../cli/platform/workerd-process.ts";

export type BareWorker = { url: string; pid: () => number; stop: () => Promise<void> };

/**
 * Serves a script that has nothing of the platform, below the same workerd: what that cannot do either is not of our
 * making. The script exports the class of one kind of objects, which the Worker has as the binding `OBJECTS`.
 */
export async function startBareWorker(
  folder: string,
  { script, objects }: { script: string; objects: string },
): Promise<BareWorker> {
  const pidFile = join(folder, "bare.pid");
  const { runtimeEnv, stop } = recordWorkerdPid(pidFile);
  const miniflare = createMiniflare(
    loadMiniflare().convertV4MiniflareOptions({
      unsafeRuntimeEnv: runtimeEnv,
      workers: [
        {
          name: "bare",
          modules: true,
          script,
          compatibilityDate: "2026-11-01",
          durableObjects: { OBJECTS: objects },
          unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
        },
      ],
    }),
  );
  return {
    url: (await miniflare.unsafeGetDirectURL()).origin,
    pid: () => Number(readFileSync(pidFile, "utf8")),
    stop: async () => {
      await miniflare.dispose();
      stop();
    },
  };
}
