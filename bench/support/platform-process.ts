import { startPlatform } from "../../cli/serve.ts";
import { REPO_ROOT } from "./paths.ts";

const WORKSPACE_ID = "5b0f0c5e-6c57-4a3b-9a52-0d9f0b7a3c11";

const [configPath, stateDir, vars = "{}", workerMain] = process.argv.slice(2);
if (configPath === undefined || stateDir === undefined) {
  throw new Error(
    "usage: platform-process.ts <config> <state> [<variables> [<entry of the Worker>]]",
  );
}

const platform = await startPlatform({
  repoRoot: REPO_ROOT,
  configPath,
  stateDir,
  port: 0,
  watch: false,
  schemas: false,
  ...(workerMain === undefined ? {} : { workerMain }),
  vars: {
    AGENT_AUTH: "none",
    AGENT_WORKSPACE_ID: WORKSPACE_ID,
    EXPORT_PRIVATE_ENDPOINTS: "allow",
    OUTBOUND_PRIVATE_ENDPOINTS: "allow",
    LOG_LEVEL: "warn",
    RATE_LIMITS: "off",
    ...(JSON.parse(vars) as Record<string, string>),
  },
  onLog: ({ level, message }) => {
    if (level !== "info") console.error(message);
  },
});

async function stop(): Promise<void> {
  await platform.close();
  process.exit();
}
process.on("SIGTERM", () => void stop());
process.on("disconnect", () => void stop());
process.send?.({ url: platform.url });
