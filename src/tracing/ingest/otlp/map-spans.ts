import { InvalidSpan, type RejectedSpan, rejectedSpan, spanName } from "./otlp-error.ts";
import {
  groupOrphans,
  type MappedRun,
  type OrphanGroup,
  type SpanPlace,
  placedRun,
  placeSpans,
} from "./place-spans.ts";
import { attachmentsOf, type SpanAttachment } from "./inputs-outputs.ts";
import { identityOf, type SpanIdentity } from "./span-identity.ts";
import { sourceMetadataChars } from "./span-metadata.ts";
import { type SpanRun, spanRun } from "./span-run.ts";
import type { Span } from "./span.ts";

export type MapOptions = {
  /** The project of spans that do not name one. */
  projectName?: string;
};

export type MappedSpans = {
  /** Runs whose place in their tree is known, parents before their children. */
  runs: MappedRun[];
  /** Runs whose parent is not among the spans, grouped by that parent. */
  orphans: OrphanGroup[];
  rejected: RejectedSpan[];
  /** What was left out of accepted runs. */
  warnings: string[];
};

/** A span converted to a run, except for its place. */
type SpanDraft = {
  span: Span;
  identity: SpanIdentity;
  startTime: number;
  run: SpanRun;
  attachments: SpanAttachment[];
};

/**
 * What each run repeats of its ancestors and of its resource was sent once and is written many times. This
 * many characters may be added in that way; without a limit, a small request would become a huge one.
 */
const MAX_REPEATED_CHARS = 48 * 1024 * 1024;

/** Maps the spans of one request to runs. An invalid span is rejected and does not affect the others. */
export function mapSpans(spans: readonly Span[], options: MapOptions): MappedSpans {
  const rejected: RejectedSpan[] = [];
  const warnings: string[] = [];
  const drafts = new Map<string, SpanDraft>();
  for (const span of spans) {
    try {
      const draft = draftOf(span, options, warnings);
      const { runId } = draft.identity;
      const other = drafts.get(runId);
      if (other !== undefined) {
        throw new InvalidSpan(`its run id ${runId} is that of ${spanName(other.span)} too`);
      }
      drafts.set(runId, draft);
    } catch (error) {
      if (!(error instanceof InvalidSpan)) throw error;
      rejected.push(rejectedSpan(span, error.message));
    }
  }
  const places = placeSpans([...drafts.values()]);
  const runs: MappedRun[] = [];
  const orphans: { draft: SpanDraft; place: Extract<SpanPlace, { type: "below" }> }[] = [];
  let repeatedChars = 0;
  for (const [draft, place] of places) {
    repeatedChars += sourceMetadataChars(draft.span.source) + placeChars(place);
    if (repeatedChars > MAX_REPEATED_CHARS) {
      const reason =
        "the request has too many spans that are nested deeply or have large resources";
      rejected.push(rejectedSpan(draft.span, reason));
    } else if (place.type === "below") {
      orphans.push({ draft, place });
    } else {
      const placed = placedRun(draft, place);
      if ("reason" in placed) rejected.push(rejectedSpan(draft.span, placed.reason));
      else runs.push(placed);
    }
  }
  return { runs, orphans: groupOrphans(orphans), rejected, warnings };
}

function draftOf(span: Span, { projectName }: MapOptions, warnings: string[]): SpanDraft {
  const identity = identityOf(span);
  const run = spanRun(span, identity.runId, projectName);
  const { attachments, problems } = attachmentsOf(span.attributes);
  for (const problem of problems) {
    warnings.push(`${spanName(span)}: ${problem}; the run is stored without this attachment`);
  }
  return { span, identity, startTime: span.startTime, run, attachments };
}

function placeChars(place: SpanPlace): number {
  switch (place.type) {
    case "known":
      return place.dottedOrder.length;
    case "below":
      return place.path.length;
    case "nowhere":
      return 0;
  }
}
