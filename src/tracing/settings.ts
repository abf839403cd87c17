import { z } from "zod";
import { seconds, wholeNumber } from "../lib/settings.ts";

export const tracingSettings = z
  .object({
    SHORTLIVED_TRACE_SECONDS: seconds(14 * 86_400),
    LONGLIVED_TRACE_SECONDS: seconds(400 * 86_400),
    HELD_SPAN_SECONDS: seconds(12 * 3600),
    MAX_INGEST_BYTES: wholeNumber(256 * 1024 * 1024),
    MAX_INGEST_PART_BYTES: wholeNumber(32 * 1024 * 1024),
  })
  .transform((vars) => ({
    /** How long traces of each tier are kept. */
    shortlivedTraceMs: vars.SHORTLIVED_TRACE_SECONDS,
    longlivedTraceMs: vars.LONGLIVED_TRACE_SECONDS,
    /** How long a span waits for its parent. */
    heldSpanMs: vars.HELD_SPAN_SECONDS,
    /** Maximum bytes of an ingest request after decompression. */
    maxIngestBytes: vars.MAX_INGEST_BYTES,
    /** Maximum bytes of one JSON part of a request. */
    maxPartBytes: vars.MAX_INGEST_PART_BYTES,
  }));
