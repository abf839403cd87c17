import type { AppContext } from "../../http/app-types.ts";
import type { RunFailure } from "./run-failure.ts";

const MAX_LISTED_FAILURES = 100;

/**
 * 202 when everything is stored. Otherwise the failures, with the status of the first one: what is
 * not listed is stored, so that nobody has to send it again.
 */
export function ingestAnswer(
  c: AppContext,
  result: { accepted: number; failures: readonly RunFailure[] },
): Response {
  const { accepted, failures } = result;
  const [first] = failures;
  if (first === undefined) return c.json({ message: "Runs accepted" }, 202);
  const status = failures.every((failure) => failure.status === 404) ? 404 : 422;
  const errors = failures.slice(0, MAX_LISTED_FAILURES).map(({ runId, field, message }) => ({
    run_id: runId,
    field,
    message,
  }));
  const more = failures.length - 1;
  const detail = more === 0 ? first.message : `${first.message} (and ${more} more)`;
  return c.json({ detail, errors, failed: failures.length, accepted }, status);
}
