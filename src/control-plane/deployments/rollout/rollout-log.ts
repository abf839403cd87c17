import type { LogLine } from "../../../deployment-log/log-line.ts";
import { recordLogs } from "../../../deployment-log/record.ts";
import type { RevisionRef } from "../../../lib/revision-ref.ts";

/** Writes a rollout's lines to the deployment's log: build lines until `deploy` is called, then deploy lines. */
export class RolloutLog {
  readonly #env: Env;
  readonly #ref: RevisionRef;
  #kind: LogLine["kind"] = "build";
  #lines: LogLine[] = [];

  constructor(env: Env, ref: RevisionRef) {
    this.#env = env;
    this.#ref = ref;
  }

  info(message: string): void {
    this.#add("INFO", message);
  }

  warn(message: string): void {
    this.#add("WARNING", message);
  }

  error(message: string): void {
    this.#add("ERROR", message);
  }

  deploy(message: string): void {
    this.#kind = "deploy";
    this.info(message);
  }

  /** Resolves when all lines can be read. */
  async flush(): Promise<void> {
    const lines = this.#lines;
    this.#lines = [];
    if (lines.length > 0) await recordLogs(this.#env, this.#ref, lines);
  }

  #add(level: LogLine["level"], message: string): void {
    const { revisionId } = this.#ref;
    const timestamp = Date.now();
    this.#lines.push({ kind: this.#kind, revision_id: revisionId, timestamp, level, message });
  }
}
