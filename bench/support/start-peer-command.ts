import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installManifests } from "../../test/support/installed-manifests.ts";
import { PEER_PROJECT } from "./paths.ts";
import { freePort } from "./free-port.ts";
import { type StartedServer, startServerProcess, untilAnswering } from "./server-process.ts";

const START_TIMEOUT_MS = 60_000;

/** Installs the packages of a project of the peer, its command among them. Returns the folder that has them. */
export function installPeer(): Promise<string> {
  return installManifests(PEER_PROJECT, { kind: "bench", name: "peer" });
}

/** Makes a project of the peer: `files` by name, its configuration, and the installed packages. */
export function makePeerProject(
  folder: string,
  { installed, files }: { installed: string; files: Record<string, string> },
): void {
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const config = { graphs: { agent: "./agent.ts:agent" }, env: {} };
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify(config));
  symlinkSync(join(installed, "node_modules"), join(folder, "node_modules"));
}

/**
 * Starts a project of the peer with the command that its documentation names, `langgraphjs dev`, which also watches the
 * files. Only the browser that it would open is left out.
 */
export async function startPeerCommand(folder: string): Promise<StartedServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const command = join(folder, "node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs");
  const server = startServerProcess({
    args: [command, "dev", "--no-browser", "--host", "127.0.0.1", "--port", String(port)],
    cwd: folder,
  });
  try {
    await untilAnswering(server, url, START_TIMEOUT_MS);
    return { url, stop: server.stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
