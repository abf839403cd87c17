import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { BENCH_GRAPHS, REPO_ROOT } from "./paths.ts";
import { type StartedServer, startServerProcess, untilAnswering } from "./server-process.ts";

const PEER = join(REPO_ROOT, "cli/node_modules/@langchain/langgraph-api/dist");
const START_TIMEOUT_MS = 60_000;
/** The default of the peer's own `dev` command. */
const PEER_WORKERS = 10;

/** The graphs that the peer serves, and the location of its packages. */
export type PeerProject = { graphs: Record<string, string>; links: Record<string, string> };

const BENCH_PROJECT: PeerProject = {
  graphs: { agent: "./graphs/agent.ts:graph" },
  links: { graphs: BENCH_GRAPHS, node_modules: join(REPO_ROOT, "node_modules") },
};

/**
 * Starts the peer's dev server as its `dev` command does, without the file watcher: its entry point
 * with its preload module. It keeps its files in the folder that it resolves graphs from, so it is
 * given a fresh folder with links to the graphs and the installed packages.
 */
export async function startPeerServer(
  stateDir: string,
  { graphs, links }: PeerProject = BENCH_PROJECT,
): Promise<StartedServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await mkdir(stateDir, { recursive: true });
  for (const [name, target] of Object.entries(links)) await symlink(target, join(stateDir, name));
  const payload = {
    port,
    host: "127.0.0.1",
    nWorkers: PEER_WORKERS,
    cwd: stateDir,
    graphs,
  };
  const server = startServerProcess({
    args: [
      "--import",
      'data:text/javascript,process.on("disconnect",()=>process.exit())',
      "--import",
      join(PEER, "preload.mjs"),
      join(PEER, "cli/entrypoint.mjs"),
      String(process.pid),
      JSON.stringify(payload),
    ],
    cwd: stateDir,
    env: { NODE_ENV: "development", LANGGRAPH_API_URL: url },
  });
  try {
    await untilAnswering(server, url, START_TIMEOUT_MS);
    return { url, stop: server.stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
