import type { RevisionRef } from "../../../lib/revision-ref.ts";
import { type LogLine, recordLogs } from "../../../deployment-log/record.ts";

/** What is told of a rollout: build lines until the deployment begins. */
export type RolloutLog = {
  info: (message: string) => void;
  warn: (message: string) => void;
  error: (message: string) => void;
  /** From here on the lines are of the deployment. */
  deploy: (message: string) => void;
  /** Resolves when all lines can be read. */
  flush: () => Promise<void>;
};

export function rolloutLog(env: Env, ref: RevisionRef): RolloutLog {
  let kind: LogLine["kind"] = "build";
  let lines: LogLine[] = [];
  const add = (level: LogLine["level"], message: string): void => {
    lines.push({ kind, revision_id: ref.revisionId, timestamp: Date.now(), level, message });
  };
  return {
    info: (message) => add("INFO", message),
    warn: (message) => add("WARNING", message),
    error: (message) => add("ERROR", message),
    deploy: (message) => {
      kind = "deploy";
      add("INFO", message);
    },
    flush: async () => {
      const told = lines;
      lines = [];
      if (told.length > 0) await recordLogs(env, ref, told);
    },
  };
}
