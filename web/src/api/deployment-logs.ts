import { queryOptions } from "@tanstack/react-query";
import { pathOf } from "./deployments.ts";
import type { ControlPlane } from "./tracing.ts";

export type LogLine = {
  id: string;
  timestamp: string;
  level: string;
  message: string;
  kind: string;
};

export const LOG_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;

/** Selects lines of a deployment's log: of one revision or of all, and of its build or of its code. */
export type LogSelection = {
  deploymentId: string;
  revisionId: string | null;
  build: boolean;
  level: string;
  text: string;
};

const FOLLOW_MS = 2_000;
const PAGE = 200;
/** Maximum lines kept, so that a page that is left open for days stays usable. */
const MOST_LINES = 2_000;

type LogPage = { logs: LogLine[]; next_offset: string | null };

/** Loads the newest lines first, and then those after the last line, so that none is loaded twice. */
export function logQuery(control: ControlPlane, selection: LogSelection) {
  const { deploymentId, revisionId, build, level, text } = selection;
  const of =
    revisionId === null ? pathOf(deploymentId) : `${pathOf(deploymentId)}/revisions/${revisionId}`;
  const path = `${of}/${build ? "build_logs" : "deploy_logs"}`;
  return queryOptions({
    queryKey: ["logs", path, level, text] as const,
    refetchInterval: FOLLOW_MS,
    gcTime: 0,
    queryFn: async ({ client, queryKey, signal }): Promise<LogLine[]> => {
      const before = client.getQueryData<LogLine[]>(queryKey) ?? [];
      const last = before.at(-1);
      const { logs } = await control<LogPage>(path, {
        method: "POST",
        body: {
          limit: PAGE,
          level,
          order: last === undefined ? "desc" : "asc",
          ...(text === "" ? {} : { query: text }),
          ...(last === undefined ? {} : { offset: last.id }),
        },
        signal,
      });
      const added = last === undefined ? logs.toReversed() : logs;
      return [...before, ...added].slice(-MOST_LINES);
    },
  });
}
