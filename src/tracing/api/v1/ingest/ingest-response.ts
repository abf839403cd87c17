import { z } from "@hono/zod-openapi";
import type { AppContext } from "../../../../http/app-types.ts";
import { type ApiError } from "../../../../lib/api-error.ts";
import { STATUS_OF } from "../../../../http/errors.ts";
import type { RunFailure } from "../../../ingest/decode/invalid-run.ts";

const MAX_LISTED_FAILURES = 100;

export const ingestFailuresSchema = z
  .object({
    detail: z.string(),
    errors: z.array(
      z.object({ run_id: z.string().nullable(), field: z.string(), message: z.string() }),
    ),
    failed: z.int(),
    accepted: z.int(),
  })
  .openapi("IngestFailures");

function failed(description: string) {
  const shapes = ["IngestFailures", "HTTPValidationError", "ErrorResponse"];
  const anyOf = shapes.map((shape) => ({ $ref: `#/components/schemas/${shape}` }));
  return { description, content: { "application/json": { schema: { anyOf } } } };
}

/** What a request with any number of runs is answered when not all of them were stored. */
export const INGEST_FAILURES = {
  400: failed("The body breaks off, or is none that can be read"),
  413: failed("The body, or a part of it, is too large"),
  415: failed("The body has another type"),
  422: failed("Some runs cannot be stored; the others were"),
};

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
