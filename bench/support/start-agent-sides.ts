import { join } from "node:path";
import { generateApiKey } from "../../src/identity/api-key.ts";
import { BareSide } from "./bare-side.ts";
import { BENCH_GRAPHS } from "./paths.ts";
import { ServerSide } from "./server-side.ts";
import type { Side } from "./side.ts";
import { startBoundServer } from "./start-bound.ts";
import { startPeerServer } from "./start-peer.ts";
import { startPlatformServer } from "./start-platform.ts";
import { startTracingPlatform } from "./tracing-platform.ts";

/** Whether the platform asks for keys, as a deployment does. The peer cannot; the promises' Worker always does. */
const WITH_KEYS = Boolean(process.env["BENCH_KEYS"]);

const WORKSPACE = {
  workspaceId: "5b0f0c5e-6c57-4a3b-9a52-0d9f0b7a3c11",
  apiKey: generateApiKey("us"),
  graphId: "agent",
};

/** The sides under comparison, in the order in which they start. */
export type AgentSides = {
  systems: Side[];
  /** Workers that do the least for a thread and a run. They have no queue, and ignore a run's context. */
  bounds: Side[];
  /** Answers with a stream's first event only. */
  nothing: ServerSide;
};

/** Starts the sides one after the other. Each is passed to `track` as soon as it serves, so that it can be closed. */
export async function startAgentSides(
  scratch: string,
  track: (side: Side) => void,
): Promise<AgentSides> {
  const tracked = <S extends Side>(side: S): S => {
    track(side);
    return side;
  };
  const platform = tracked(await startPlatform(join(scratch, "platform")));
  const peerServer = await startPeerServer(join(scratch, "peer"));
  const peer = tracked(new ServerSide("peer", peerServer, truncatePeer));
  const leastServer = await startBoundServer("least", join(scratch, "least"));
  const least = tracked(new ServerSide("least", leastServer, noReset));
  const promisesServer = await startBoundServer("promises", join(scratch, "promises"), WORKSPACE);
  const promises = tracked(new ServerSide("promises", promisesServer, noReset, WORKSPACE.apiKey));
  const nothingServer = await startBoundServer("nothing", join(scratch, "nothing"));
  const nothing = tracked(new ServerSide("nothing", nothingServer, noReset));
  const bare = tracked(new BareSide());
  return { systems: [platform, peer, bare], bounds: [least, promises], nothing };
}

async function startPlatform(stateDir: string): Promise<ServerSide> {
  if (!WITH_KEYS) {
    const configPath = join(BENCH_GRAPHS, "langgraph.json");
    const server = await startPlatformServer({ configPath, stateDir });
    return new ServerSide("platform", server, noReset);
  }
  const platform = await startTracingPlatform(stateDir, { vars: { AGENT_AUTH: "api-key" } });
  const { url, apiKey, stop } = platform;
  return new ServerSide("platform", { url: new URL(url).origin, stop }, noReset, apiKey);
}

async function noReset(): Promise<void> {}

/**
 * Empties the peer, which keeps everything in memory and writes all of it to a file when idle, so that this stays
 * small.
 */
async function truncatePeer(url: string): Promise<void> {
  const response = await fetch(`${url}/internal/truncate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ runs: true, threads: true, checkpointer: true, store: true }),
  });
  if (!response.ok) throw new Error(`The peer was not truncated: ${await response.text()}`);
}
