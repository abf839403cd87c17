import { base64Decode } from "@bufbuild/protobuf/wire";
import { type Attributes, given, listOf, objectOf } from "./span.ts";

export type SpanAttachment = { name: string; mimeType: string; bytes: Uint8Array };

const ATTRIBUTE = "langsmith.attachments";

/**
 * The attachments in `langsmith.attachments`, a list of `{name, content, mime_type}` as JSON with the
 * content in base64. `problems` says of each bad one what is wrong with it.
 */
export function attachmentsOf(attributes: Attributes): {
  attachments: SpanAttachment[];
  problems: string[];
} {
  const attachments: SpanAttachment[] = [];
  const problems: string[] = [];
  const value = given(attributes, ATTRIBUTE);
  if (value === undefined) return { attachments, problems };
  const items = listOf(value);
  if (items === undefined) problems.push(`${ATTRIBUTE} should be a list as JSON`);
  for (const [index, item] of (items ?? []).entries()) {
    const attachment = attachmentOf(objectOf(item) ?? {});
    if (typeof attachment === "string") problems.push(`${ATTRIBUTE}[${index}].${attachment}`);
    else attachments.push(attachment);
  }
  return { attachments, problems };
}

function attachmentOf(item: Record<string, unknown>): SpanAttachment | string {
  const { name, content, mime_type: mimeType = "application/octet-stream" } = item;
  if (typeof name !== "string" || name === "") return "name should be a text";
  if (typeof mimeType !== "string") return "mime_type should be a text";
  if (typeof content !== "string") return "content should be a text in base64";
  try {
    return { name, mimeType, bytes: base64Decode(content) };
  } catch {
    return "content should be base64";
  }
}
