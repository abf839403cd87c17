import type { RevisionStatus } from "../../../db/deployments-schema.ts";
import type { RevisionRow } from "../../../db/revisions-repo.ts";
import {
  activateRevision,
  moveRevision,
  ROLLOUT_WORK,
  settleRevision,
} from "../../../db/rollouts-repo.ts";
import { parseSettings } from "../../../env.ts";
import { log } from "../../../lib/log.ts";
import { BUILD_LOCALLY } from "../../../lib/remote-build.ts";
import type { RevisionRef } from "../../../lib/revision-ref.ts";
import { warmRevision } from "../../../revision-host/load-revision.ts";
import { Lease, LeaseLost } from "../../../work/lease.ts";
import { deployRevision } from "./deploy.ts";
import { ProjectFailure } from "./project-failure.ts";
import { RolloutLog } from "./rollout-log.ts";
import type { RolloutLease } from "./rollout-source.ts";
import { buildRevision } from "./store-build.ts";

/** How long a rollout that stops renewing its lease keeps others from taking over. */
export const LEASE_MS = 45_000;

/** Delay before a step is repeated after a failure that the project did not cause. */
const RETRY_DELAY_MS = 2000;

/** A revision is given up after this many interrupted rollouts, because it may cause the interruptions. */
const MAX_ATTEMPTS = 8;

/**
 * Rolls a revision out from its current status to its end. Does nothing when it is not due or another process
 * works on it. Resolves to the time at which to look again, or null for never.
 */
export async function rollOut(
  env: Env,
  exports: Cloudflare.Exports,
  ref: RevisionRef,
): Promise<number | null> {
  const taken = await Lease.take(env.DB, ROLLOUT_WORK, ref, LEASE_MS);
  if (taken === null) return null;
  const { lease, row } = taken;
  const logs = new RolloutLog(env, ref);
  const rollout = new Rollout(env, exports, lease, logs);
  try {
    if (row.attempts > MAX_ATTEMPTS) {
      await rollout.giveUp(row, "each was interrupted");
      return null;
    }
    await rollout.run(row);
    return null;
  } catch (error) {
    if (error instanceof LeaseLost) return null;
    if (row.attempts >= MAX_ATTEMPTS) {
      await rollout.giveUp(row, String(error));
      return null;
    }
    const { logLevel } = parseSettings(env);
    const revision_id = ref.revisionId;
    log(logLevel, "error", { event: "rollout_failed", revision_id, error: String(error) });
    const dueAt = Date.now() + RETRY_DELAY_MS;
    await lease.release(dueAt);
    return dueAt;
  } finally {
    lease.stop();
    await logs.flush();
  }
}

class Rollout {
  readonly #env: Env;
  readonly #exports: Cloudflare.Exports;
  readonly #lease: RolloutLease;
  readonly #logs: RolloutLog;
  #status: RevisionStatus = "QUEUED";

  constructor(env: Env, exports: Cloudflare.Exports, lease: RolloutLease, logs: RolloutLog) {
    this.#env = env;
    this.#exports = exports;
    this.#lease = lease;
    this.#logs = logs;
  }

  async run(row: RevisionRow): Promise<void> {
    this.#status = row.status;
    if (row.attempts > 1) this.#logs.warn(`Continuing after an interruption, at ${row.status}`);
    if (row.source === "internal_source" && row.source_tarball_path === null) {
      await this.#settle("QUEUED", "Waiting for a source: PATCH the deployment with one");
      return;
    }
    await this.#pass(["QUEUED", "AWAITING_BUILD"], "BUILDING");
    if (this.#status === "BUILDING") {
      const built = await this.#attempt("BUILD_FAILED", () =>
        buildRevision({
          env: this.#env,
          exports: this.#exports,
          lease: this.#lease,
          row,
          logs: this.#logs,
          onBuilt: (code) => warmRevision(this.#env, this.#exports, this.#lease.held, code),
        }),
      );
      if (built === null) return;
    }
    // The lines are written while the next steps run.
    const told = this.#logs.flush();
    await this.#pass(["BUILDING", "AWAITING_DEPLOY"], "DEPLOYING");
    const graphs = await this.#attempt("DEPLOY_FAILED", () =>
      deployRevision(this.#env, this.#exports, this.#lease.held, {
        logs: this.#logs,
        check: () => this.#lease.check(),
      }),
    );
    if (graphs === null) return;
    // The log is written before the revision becomes visible as serving.
    this.#logs.info("The revision is deployed");
    await Promise.all([told, this.#logs.flush()]);
    const now = Date.now();
    this.#lease.require(await activateRevision(this.#env.DB, this.#lease.held, { graphs, now }));
  }

  async giveUp(row: RevisionRow, reason: string): Promise<void> {
    const status = failureOf(row.status);
    const isBuilt = status === "BUILD_FAILED" && row.source !== "internal_template";
    // A build that crashes its process, for example on a machine without enough memory, leaves no other trace.
    const advice = isBuilt ? `. If it was the build, ${BUILD_LOCALLY}` : "";
    const message = `Given up after ${MAX_ATTEMPTS} attempts: ${reason}${advice}`;
    this.#logs.error(message);
    const ending = { status, message, now: Date.now() };
    await settleRevision(this.#env.DB, this.#lease.held, ending);
  }

  /** Moves on to the next status, unless the revision has already passed it. */
  async #pass(from: RevisionStatus[], to: RevisionStatus): Promise<void> {
    if (!from.includes(this.#status)) return;
    const move = { status: to, now: Date.now() };
    this.#lease.require(await moveRevision(this.#env.DB, this.#lease.held, move));
    this.#status = to;
  }

  /** Runs a step. Returns null when the project failed, which ends the rollout. */
  async #attempt<T>(failed: RevisionStatus, step: () => Promise<T>): Promise<T | null> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof ProjectFailure)) throw error;
      this.#logs.error(error.message);
      await this.#logs.flush();
      await this.#settle(failed, error.message);
      return null;
    }
  }

  async #settle(status: RevisionStatus, message: string): Promise<void> {
    const ending = { status, message, now: Date.now() };
    this.#lease.require(await settleRevision(this.#env.DB, this.#lease.held, ending));
  }
}

function failureOf(status: RevisionStatus): RevisionStatus {
  if (status === "CREATING" || status === "QUEUED") return "CREATE_FAILED";
  return status === "AWAITING_BUILD" || status === "BUILDING" ? "BUILD_FAILED" : "DEPLOY_FAILED";
}
