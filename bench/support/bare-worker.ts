import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadMiniflare } from "../../cli/platform/miniflare.ts";
import { createMiniflare } from "../../cli/platform/worker-options.ts";
import { recordWorkerdPid } from "../../cli/platform/workerd-process.ts";

export type BareWorker = { url: string; pid: () => number; stop: () => Promise<void> };

/**
 * Serves a script without any code of the platform, in the same workerd, to show which costs are workerd's own. The
 * script exports one Durable Object class, which the Worker has as the binding `OBJECTS`.
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
