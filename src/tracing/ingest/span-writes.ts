import { readRun } from "./decode/run-body.ts";
import type { Attachment, RunWrite } from "../model/run-write.ts";
import type { PlacedRun } from "./otlp/placed-run.ts";

/** Throws InvalidRun. */
export function toRunWrite(run: PlacedRun, attachments: readonly Attachment[]): RunWrite {
  const write = readRun("post", run, { identity: "required" });
  return attachments.length === 0 ? write : { ...write, attachments: [...attachments] };
}
