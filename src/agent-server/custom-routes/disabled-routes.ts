import type { MiddlewareHandler } from "hono";
import type { Disableable } from "../../graph-runtime/http-info.ts";
import type { AppContext, AppEnv } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import {
  findRequestedProject,
  projectOf,
  type RequestedProject,
} from "../auth/requested-project.ts";

/** The parts of the agent server by path; the first match applies. */
const PARTS: readonly (readonly [part: Disableable, paths: RegExp])[] = [
  ["assistants", /^\/assistants(?:\/|$)/],
  // The streams and commands of a thread concern its runs.
  ["runs", /^\/(?:runs|threads\/[^/]+\/(?:runs|stream|commands|protocol))(?:\/|$)/],
  ["threads", /^\/threads(?:\/|$)/],
  ["store", /^\/store(?:\/|$)/],
  ["mcp", /^\/mcp(?:\/|$)/],
  ["a2a", /^\/(?:a2a|\.well-known\/agent(?:-card)?\.json)(?:\/|$)/],
  ["ui", /^\/ui(?:\/|$)/],
];

/** Answers 404 for the built-in routes that the project disables. The project's own app has run before. */
export const disabledRoutes: MiddlewareHandler<AppEnv> = async (c, next) => {
  const part = partOf(c.req.path);
  if (part !== undefined) assertEnabled(projectOf(c), part);
  await next();
};

/** Does the same for routes without authentication, which an installation serves for any project. */
export const disabledMeta: MiddlewareHandler<AppEnv> = async (c, next) => {
  const project = await projectIfAny(c);
  if (project !== null) assertEnabled(project, "meta");
  await next();
};

export function isEnabled({ description }: RequestedProject, part: Disableable): boolean {
  return description.http?.disabled.includes(part) !== true;
}

function assertEnabled(project: RequestedProject, part: Disableable): void {
  if (!isEnabled(project, part)) throw new ApiError("not_found", "Not Found");
}

function partOf(path: string): Disableable | undefined {
  return PARTS.find(([, paths]) => paths.test(path))?.[0];
}

async function projectIfAny(c: AppContext): Promise<RequestedProject | null> {
  try {
    return c.var.arrival.surface === "agent-server" ? await findRequestedProject(c) : null;
  } catch {
    return null;
  }
}
