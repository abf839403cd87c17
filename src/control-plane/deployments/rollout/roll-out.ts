import { v4 as uuid } from "uuid";
import type { RevisionStatus } from "../../../db/deployments-schema.ts";
import {
  activateRevision,
  claimRevision,
  moveRevision,
  postponeRevision,
  type RevisionRow,
  type RolloutLease,
  settleRevision,
} from "../../../db/rollouts-repo.ts";
import { parseSettings } from "../../../env.ts";
import { log } from "../../../lib/log.ts";
import type { RevisionRef } from "../../../lib/revision-ref.ts";
import { warmRevision } from "../../../revision-host/load-revision.ts";
import { deployRevision } from "./deploy.ts";
import { ProjectFailure } from "./failure.ts";
import { type RolloutLog, rolloutLog } from "./rollout-log.ts";
import { buildRevision } from "./store-build.ts";

/** Each status renews it, and calls to a revision that starts do: more than any of them may take. */
const LEASE_MS = 45_000;
const RENEWALS_PER_LEASE = 3;

/** Before a step is repeated that failed for reasons outside of the project. */
const RETRY_DELAY_MS = 2000;

/** A revision whose rollout was interrupted so often is given up: it may be what interrupts it. */
const MAX_ATTEMPTS = 8;

/** Somebody else works on the revision now, or it was skipped or interrupted. */
class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/**
 * Takes a revision from where it is to its end. Nothing happens when it is not due, or somebody works on
 * it. Resolves with the time at which to look again, null for never.
 */
export async function rollOut(
  env: Env,
  exports: Cloudflare.Exports,
  ref: RevisionRef,
): Promise<number | null> {
  const lease = { ...ref, lease: uuid() };
  const now = Date.now();
  const row = await claimRevision(env.DB, lease, { now, until: now + LEASE_MS });
  if (row === undefined) return null;
  const logs = rolloutLog(env, ref);
  try {
    if (row.attempts > MAX_ATTEMPTS) {
      await giveUp(env, lease, row, "each was interrupted", logs);
      return null;
    }
    await new Rollout(env, exports, lease, logs).run(row);
    return null;
  } catch (error) {
    if (error instanceof LeaseLost) return null;
    if (row.attempts >= MAX_ATTEMPTS) {
      await giveUp(env, lease, row, String(error), logs);
      return null;
    }
    const { logLevel } = parseSettings(env);
    const revision_id = ref.revisionId;
    log(logLevel, "error", { event: "rollout_failed", revision_id, error: String(error) });
    const dueAt = Date.now() + RETRY_DELAY_MS;
    await postponeRevision(env.DB, lease, dueAt);
    return dueAt;
  } finally {
    await logs.flush();
  }
}

class Rollout {
  readonly #env: Env;
  readonly #exports: Cloudflare.Exports;
  readonly #lease: RolloutLease;
  readonly #logs: RolloutLog;
  #status: RevisionStatus = "QUEUED";
  #renewedAt = Date.now();

  constructor(env: Env, exports: Cloudflare.Exports, lease: RolloutLease, logs: RolloutLog) {
    this.#env = env;
    this.#exports = exports;
    this.#lease = lease;
    this.#logs = logs;
  }

  async run(row: RevisionRow): Promise<void> {
    this.#status = row.status;
    if (row.attempts > 1) this.#logs.warn(`Going on after an interruption, at ${row.status}`);
    if (row.source === "internal_source" && row.source_tarball_path === null) {
      await this.#settle("QUEUED", "Waiting for a source: PATCH the deployment with one");
      return;
    }
    await this.#pass(["QUEUED", "AWAITING_BUILD"], "BUILDING");
    if (this.#status === "BUILDING") {
      const built = await this.#attempt("BUILD_FAILED", () =>
        buildRevision(this.#env, row, this.#logs, (code) =>
          warmRevision(this.#env, this.#exports, this.#lease, code),
        ),
      );
      if (built === null) return;
    }
    // Told while the next steps go on.
    const told = this.#logs.flush();
    await this.#pass(["BUILDING", "AWAITING_DEPLOY"], "DEPLOYING");
    const graphs = await this.#attempt("DEPLOY_FAILED", () =>
      deployRevision(this.#env, this.#exports, this.#lease, {
        logs: this.#logs,
        renew: () => this.#renew(),
      }),
    );
    if (graphs === null) return;
    // What the logs say of it is there before anybody is told that it serves.
    this.#logs.info("The revision is deployed");
    await Promise.all([told, this.#logs.flush()]);
    const now = Date.now();
    require(await activateRevision(this.#env.DB, this.#lease, { graphs, now }));
  }

  /** To the next status, unless the revision is beyond it already. */
  async #pass(from: RevisionStatus[], to: RevisionStatus): Promise<void> {
    if (from.includes(this.#status)) await this.#enter(to);
  }

  async #enter(status: RevisionStatus): Promise<void> {
    const now = Date.now();
    require(await moveRevision(this.#env.DB, this.#lease, status, { now, until: now + LEASE_MS }));
    this.#status = status;
    this.#renewedAt = now;
  }

  async #renew(): Promise<void> {
    if (Date.now() - this.#renewedAt > LEASE_MS / RENEWALS_PER_LEASE) {
      await this.#enter(this.#status);
    }
  }

  /** Null when the project failed, which ends the rollout. */
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
    require(await settleRevision(this.#env.DB, this.#lease, ending));
  }
}

function require(held: boolean): void {
  if (!held) throw new LeaseLost("the lease was taken away");
}

async function giveUp(
  env: Env,
  lease: RolloutLease,
  row: RevisionRow,
  reason: string,
  logs: RolloutLog,
): Promise<void> {
  const message = `Given up after ${MAX_ATTEMPTS} attempts: ${reason}`;
  logs.error(message);
  await settleRevision(env.DB, lease, { status: failureOf(row.status), message, now: Date.now() });
}

function failureOf(status: RevisionStatus): RevisionStatus {
  if (status === "CREATING" || status === "QUEUED") return "CREATE_FAILED";
  return status === "AWAITING_BUILD" || status === "BUILDING" ? "BUILD_FAILED" : "DEPLOY_FAILED";
}
