import type { UnknownMembers } from "../../../lib/unknown-members.ts";
import type { PayloadField, RunWrite } from "../../model/run-write.ts";
import { isPayloadField } from "./run-payloads.ts";
import { parseUuid } from "../../../lib/uuid.ts";

type RunKind = RunWrite["kind"];

export type RunPartName = { type: "run"; kind: RunKind; runId: string };

export type FieldPartName = { type: "field"; kind: RunKind; runId: string; field: PayloadField };

/** What a part is, by its name; ids are lower-case UUIDs with dashes. */
export type PartName =
  | RunPartName
  | FieldPartName
  | { type: "attachment"; runId: string; attachment: string }
  | { type: "feedback"; feedbackId: string }
  /** It has no effect: `members` is what it is called, or the field of a run that it would be. */
  | { type: "unknown"; members: UnknownMembers }
  | { type: "invalid"; runId: string | null; reason: string };

const NAME = /^(post|patch|attachment|feedback)\.([^.]*)(?:\.(.*))?$/s;

const MAX_ATTACHMENT_NAME_CHARS = 1000;

export function parsePartName(name: string): PartName {
  const match = NAME.exec(name);
  if (match === null) return { type: "unknown", members: { path: [], keys: [name] } };
  const [, type, idText, rest] = match;
  const id = parseUuid(idText ?? "");
  if (id === null) return { type: "invalid", runId: null, reason: `"${idText}" is not a UUID` };
  if (type === "attachment") return attachmentName(id, rest ?? "");
  if (type === "feedback") {
    if (rest === undefined) return { type: "feedback", feedbackId: id };
    return { type: "invalid", runId: null, reason: "should be feedback.<id>" };
  }
  const kind = type === "post" ? "post" : "patch";
  if (rest === undefined) return { type: "run", kind, runId: id };
  if (isPayloadField(rest)) return { type: "field", kind, runId: id, field: rest };
  return { type: "unknown", members: { path: [kind, 0], keys: [rest] } };
}

function attachmentName(runId: string, attachment: string): PartName {
  const isValid =
    attachment !== "" &&
    attachment.length <= MAX_ATTACHMENT_NAME_CHARS &&
    !/[.\0]/.test(attachment);
  if (isValid) return { type: "attachment", runId, attachment };
  const reason = `an attachment's name should have 1 to ${MAX_ATTACHMENT_NAME_CHARS} characters, no dot and no NUL`;
  return { type: "invalid", runId, reason };
}
