import type { AppContext } from "../../../http/app-types.ts";
import { renderDetail } from "../../../http/render-errors.ts";
import { problemDetails } from "./problem-details.ts";

/** The error as `application/problem+json`. */
export function renderProblem(error: Error, c: AppContext): Response {
  // Decides the status of every error, and logs what was not foreseen.
  const plain = renderDetail(error, c);
  const { requestId } = c.var;
  const problem = problemDetails(error, { status: plain.status, path: c.req.path, requestId });
  const headers = new Headers(plain.headers);
  headers.set("content-type", "application/problem+json");
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}
