import { recordLogs } from "../../../deployment-log/record.ts";
import { parseSettings } from "../../../env.ts";
import { log } from "../../../lib/log.ts";
import { DEFAULT_DEPLOYMENT_ID, type Scope } from "../../../lib/scope.ts";
import type { AgentCall } from "../../agent-call.ts";
import { ATTEMPT_LIMIT_MS, sendWebhook } from "../../webhooks/send-webhook.ts";
import type { WebhookRecord } from "../contract/thread-json.ts";
import type { RunRow } from "../storage/run-row.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import { WebhookOutbox } from "./webhook-outbox.ts";

type ThreadWebhooksDeps = {
  storage: ThreadStorage;
  scope: () => Scope;
  ctx: AgentCall["ctx"];
  waitUntil: (promise: Promise<void>) => void;
  onAttempt: () => void;
};

/**
 * Returns the outbox of the webhooks of a thread's runs. They are sent in the scope of the thread's deployment,
 * with the revision of the run and without a principal.
 */
export function threadWebhooks(env: Env, deps: ThreadWebhooksDeps): WebhookOutbox {
  const { storage, scope, ctx, waitUntil, onAttempt } = deps;
  return new WebhookOutbox({
    storage,
    send: async ({ run, webhook, payload }) => {
      const of = scope();
      const { run_id: id, revision_id: revisionId } = run;
      const revision = revisionId === null ? null : { ...of, revisionId };
      const call: AgentCall = { env, ctx, scope: of, revision, principal: null };
      return sendWebhook(call, { id, webhook, payload });
    },
    attemptLimitMs: ATTEMPT_LIMIT_MS,
    now: () => Date.now(),
    onAttempt,
    onGivenUp: (run, record) => waitUntil(tellOfLoss(env, scope(), run, record)),
  });
}

/**
 * Logs a lost webhook for the operator and in the deployment's log. The address is left out, as it can contain
 * secrets.
 */
async function tellOfLoss(
  env: Env,
  scope: Scope,
  { run_id, revision_id }: RunRow,
  { attempts, error }: WebhookRecord,
): Promise<void> {
  log(parseSettings(env).logLevel, "warn", { event: "webhook_given_up", run_id, attempts, error });
  if (scope.deploymentId === DEFAULT_DEPLOYMENT_ID) return;
  const message = `The webhook of run ${run_id} was given up after ${attempts} attempts: ${error}`;
  const line = { kind: "server", revision_id, timestamp: Date.now(), level: "WARNING" } as const;
  await recordLogs(env, scope, [{ ...line, message }]);
}
