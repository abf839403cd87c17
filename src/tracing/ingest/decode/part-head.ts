import { ApiError } from "../../../lib/api-error.ts";
import type { UnknownMembers } from "../../../lib/unknown-members.ts";
import type { PayloadField, RunWrite } from "../../model/run-write.ts";
import { isPayloadField } from "./run-payloads.ts";
import { parseUuid } from "../../../lib/uuid.ts";

/** A quoted text must extend to the next parameter: some clients leave quotes in a name unescaped. */
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"(?=\s*(?:;|$))|([^;]*))/g;

export type PartHead = {
  name: string;
  /** Without the `length` parameter; "" if the part does not declare a type. */
  contentType: string;
  /** The declared length of the body in bytes; null if there is none. */
  length: number | null;
};

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** Parses the headers of one part, without the blank line that ends them. Throws "bad_request". */
export function parsePartHead(bytes: Uint8Array): PartHead {
  const headers = parseHeaders(decode(bytes).trim());
  const disposition = parseHeaderValue(headers.get("content-disposition") ?? "");
  const escaped = disposition.parameters.get("name");
  if (escaped === undefined || escaped === "") {
    throw new ApiError("bad_request", "A multipart part has no name in its Content-Disposition");
  }
  const name = unescapeName(escaped);
  if (disposition.value.toLowerCase() !== "form-data") {
    throw invalidPart(name, `its Content-Disposition is "${disposition.value}", not form-data`);
  }
  if (headers.has("content-encoding")) {
    throw invalidPart(name, "Content-Encoding is not allowed on a part, only on the whole request");
  }
  const transferEncoding = headers.get("content-transfer-encoding") ?? "binary";
  if (!/^(binary|8bit|7bit)$/i.test(transferEncoding)) {
    throw invalidPart(name, `Content-Transfer-Encoding "${transferEncoding}" is not supported`);
  }
  const type = parseHeaderValue(headers.get("content-type") ?? "");
  return {
    name,
    contentType: formatHeaderValue(type, "length"),
    length: declaredLength(name, headers.get("content-length"), type),
  };
}

/** Returns the error for the broken framing of a part, which makes the rest of the request unreadable. */
export function invalidPart(name: string, reason: string): ApiError {
  return new ApiError("bad_request", `Multipart part "${name}": ${reason}`);
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ApiError("bad_request", "The headers of a multipart part are not UTF-8");
  }
}

function parseHeaders(block: string): Map<string, string> {
  const headers = new Map<string, string>();
  if (block === "") return headers;
  // A line that begins with a space continues the previous one.
  for (const line of block.replaceAll(/\r?\n[ \t]+/g, " ").split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon <= 0) {
      throw new ApiError("bad_request", `Multipart header line without a name: "${head(line)}"`);
    }
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}

function declaredLength(
  name: string,
  header: string | undefined,
  type: HeaderValue,
): number | null {
  const parameter = type.parameters.get("length");
  if (header !== undefined && parameter !== undefined && header !== parameter) {
    throw invalidPart(name, `Content-Length is ${header}, but its type says length=${parameter}`);
  }
  const text = header ?? parameter;
  if (text === undefined) return null;
  const length = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(length)) {
    throw invalidPart(name, `its length "${head(text)}" is not a number of bytes`);
  }
  return length;
}

/** Browsers and urllib3 percent-encode these three characters. */
function unescapeName(name: string): string {
  return name.replaceAll(/%22|%0A|%0D/gi, (code) => decodeURIComponent(code));
}

function head(text: string): string {
  return text.slice(0, 100);
}

/** A header such as `form-data; name="a"`: the value, and its parameters with lower-case names. */
type HeaderValue = { value: string; parameters: Map<string, string> };

export function parseHeaderValue(header: string): HeaderValue {
  const end = header.indexOf(";");
  const value = (end === -1 ? header : header.slice(0, end)).trim();
  const parameters = new Map<string, string>();
  for (const [, name, quoted, bare] of header.matchAll(PARAMETER)) {
    if (name === undefined) continue;
    const text = quoted?.replaceAll(/\\(["\\])/g, "$1") ?? unquote((bare ?? "").trim());
    parameters.set(name.toLowerCase(), text);
  }
  return { value, parameters };
}

/** Formats a header without one of its parameters. */
function formatHeaderValue({ value, parameters }: HeaderValue, without: string): string {
  const kept = [...parameters].filter(([name]) => name !== without);
  return [value, ...kept.map(([name, text]) => `${name}=${quote(text)}`)].join("; ");
}

function unquote(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

function quote(text: string): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(text)) return text;
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

type RunKind = RunWrite["kind"];

export type RunPartName = { type: "run"; kind: RunKind; runId: string };

export type FieldPartName = { type: "field"; kind: RunKind; runId: string; field: PayloadField };

/** The meaning of a part's name; ids are lower-case UUIDs with dashes. */
export type PartName =
  | RunPartName
  | FieldPartName
  | { type: "attachment"; runId: string; attachment: string }
  | { type: "feedback"; feedbackId: string }
  /** The part has no effect: `members` is its name, or the unknown field of a run. */
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
