import { join } from "node:path";
import type { PlatformOptions } from "../../../../cli/serve.ts";

/** Returns the options to start a checkout that `smallPlatform` has created. */
export function smallPlatformOptions(folder: string): PlatformOptions {
  return {
    repoRoot: folder,
    configPath: folder,
    stateDir: join(folder, "state"),
    graphHostModule: join(folder, "graph-host.js"),
    port: 0,
    watch: false,
    schemas: false,
    onLog: () => {},
  };
}
