import { WorkerEntrypoint } from "cloudflare:workers";
import { recordLogs } from "../deployment-log/record.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import { atSourcePositions } from "./source-positions.ts";
import { linesOfTrace } from "./trace-lines.ts";

/** Hears what a revision's code wrote to the console, and puts it, with places in the project's sources, into the deployment's log. */
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
