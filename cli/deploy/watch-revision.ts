import { setTimeout as sleep } from "node:timers/promises";
import type { ControlPlane } from "../api/control-plane.ts";
import { LogFollower } from "../api/log-reader.ts";
import type { Revision } from "../api/schemas.ts";
import { CliError, describeError } from "../cli-error.ts";
import type { Progress } from "../terminal/progress.ts";

const FIRST_POLL_MS = 150;
const LAST_POLL_MS = 3000;
const SLOWER = 1.3;

const ENDED = new Set([
  "DEPLOYED",
  "CREATE_FAILED",
  "BUILD_FAILED",
  "DEPLOY_FAILED",
  "SKIPPED",
  "INTERRUPTED",
]);

const BUILD_HAS_BEGUN = new Set(["BUILDING", "AWAITING_DEPLOY", "DEPLOYING"]);

type RevisionRef = { deploymentId: string; revisionId: string };

/**
 * Waits until a revision has ended, and shows its status and its logs meanwhile. Throws a `CliError` when
 * that takes longer than `timeoutMs`.
 */
export async function watchRevision(
  api: ControlPlane,
  { deploymentId, revisionId }: RevisionRef,
  { progress, timeoutMs }: { progress: Progress; timeoutMs: number },
): Promise<Revision> {
  const deadline = performance.now() + timeoutMs;
  const buildLog = new LogFollower(api.buildLogs(deploymentId, revisionId));
  const deployLog = new LogFollower(api.deployLogs(deploymentId, revisionId));
  let canReadLogs = true;
  const showNewLines = async (logs: LogFollower[]): Promise<void> => {
    if (!canReadLogs) return;
    try {
      for (const log of logs) {
        for (const { message } of await log.next()) {
          progress.line(message.replaceAll(/^/gm, "  | "));
        }
      }
    } catch (error) {
      // Reading the logs is optional, and the rollout continues.
      canReadLogs = false;
      progress.warn(`the logs cannot be read: ${describeError(error)}`);
    }
  };

  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * SLOWER, LAST_POLL_MS)) {
    const revision = await api.getRevision(deploymentId, revisionId);
    if (ENDED.has(revision.status)) {
      await showNewLines([buildLog, deployLog]);
      return revision;
    }
    progress.show(revision.status);
    if (BUILD_HAS_BEGUN.has(revision.status)) {
      await showNewLines(revision.status === "DEPLOYING" ? [buildLog, deployLog] : [buildLog]);
    }
    if (performance.now() > deadline) {
      throw new CliError(
        `revision ${revisionId} is still ${revision.status} after ${timeoutMs / 1000} seconds; the rollout continues without this command`,
      );
    }
    await sleep(pollMs);
  }
}
