/** Serves the checkout in its argument, in a process that a test can kill. */
import { join } from "node:path";
import { startPlatform } from "../../../../cli/serve.ts";

const folder = process.argv[2] ?? "";
const { url } = await startPlatform({
  repoRoot: folder,
  configPath: folder,
  stateDir: join(folder, "state"),
  graphHostModule: join(folder, "graph-host.js"),
  port: 0,
  watch: false,
  schemas: false,
  onLog: () => {},
});
process.send?.(url);
