import type { AppContext } from "../../../../http/app-types.ts";
import { type ApiError } from "../../../../lib/api-error.ts";
import { STATUS_OF } from "../../../../http/errors.ts";
import type { RunFailure } from "../../../ingest/decode/invalid-run.ts";

const MAX_LISTED_FAILURES = 100;

type Problem = { run_id: string | null; field: string; message: string };

/**
 * The answer to a request with any number of runs: 202 when everything is stored. Otherwise what is wrong, first what broke off the request: what is
 * not listed and came before a break is stored, so that nobody has to send it again.
 */
export function ingestResponse(
  c: AppContext,
  result: { accepted: number; failures: readonly RunFailure[] },
  broken: ApiError | null = null,
): Response {
  const { accepted, failures } = result;
  const errors: Problem[] = failures
    .slice(0, MAX_LISTED_FAILURES)
    .map(({ runId, field, message }) => ({ run_id: runId, field, message }));
  if (broken !== null) {
    errors.unshift({ run_id: null, field: "body", message: broken.message });
  }
  const [first] = errors;
  if (first === undefined) return acceptedResponse(c);
  const failed = failures.length + (broken === null ? 0 : 1);
  const detail = failed === 1 ? first.message : `${first.message} (and ${failed - 1} more)`;
  return c.json(
    { detail, errors, failed, accepted },
    // Never 404: a client that gets it from the multipart route takes the route for missing.
    broken === null ? 422 : STATUS_OF[broken.code],
  );
}

/** `madeId` is the id of a run which was sent without one. */
export function acceptedResponse(c: AppContext, madeId?: string): Response {
  return c.json({ message: "Runs accepted", ...(madeId !== undefined && { id: madeId }) }, 202);
}
