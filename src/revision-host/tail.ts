import { WorkerEntrypoint } from "cloudflare:workers";
import { recordLogs } from "../deployment-log/record.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import { atSourcePositions } from "./source-positions.ts";
import { linesOfTrace } from "./trace-lines.ts";

/**
 * Receives what a revision's code wrote to the console, and appends it to the deployment's log, with positions in
 * the project's sources.
 */
export class RevisionTail extends WorkerEntrypoint<Env, RevisionRef> {
  override async tail(events: TraceItem[]): Promise<void> {
    const { props } = this.ctx;
    const now = Date.now();
    const lines = events.flatMap((event) => linesOfTrace(event, props.revisionId, now));
    const messages = lines.map(({ message }) => message);
    const told = await atSourcePositions(this.env.SOURCES, props, messages);
    for (const [index, line] of lines.entries()) line.message = told[index] ?? line.message;
    await recordLogs(this.env, props, lines);
  }
}
