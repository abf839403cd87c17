import type { Part } from "@a2a-js/sdk";
import { isObject, type JsonObject } from "../../lib/json.ts";

/** First halves of the media types that LangChain has a block type for. Any other file becomes a `file` block. */
const KINDS: ReadonlySet<string> = new Set(["image", "audio"]);

const FILE_BLOCKS: ReadonlySet<unknown> = new Set(["image", "audio", "video", "file"]);

const DEFAULT_MEDIA_TYPE = "application/octet-stream";

const DATA_URL = /^data:(?<type>[^;,]+)(?:;[^,]*)?;base64,(?<data>.*)$/s;

/**
 * Returns a file as a content block in the form that every LangChain model accepts; null if the part is not a
 * file.
 */
export function toFileBlock({ content, filename, mediaType }: Part): JsonObject | null {
  if (content?.$case !== "raw" && content?.$case !== "url") return null;
  const mime_type = mediaType === "" ? DEFAULT_MEDIA_TYPE : mediaType;
  const [kind = ""] = mime_type.split("/", 1);
  return {
    type: KINDS.has(kind) ? kind : "file",
    mime_type,
    ...(content.$case === "raw"
      ? { source_type: "base64", data: content.value.toString("base64") }
      : { source_type: "url", url: content.value }),
    ...(filename === "" ? {} : { metadata: { filename } }),
  };
}

/** Returns the files in a message's content, in any of the forms that LangChain has for them. */
export function filesOf({ content }: JsonObject): Part[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown) => {
    const part = isObject(block) ? toPart(block) : null;
    return part === null ? [] : [part];
  });
}

function toPart(block: JsonObject): Part | null {
  const { type, data, url, image_url: image } = block;
  if (type === "image_url") return linkPart(isObject(image) ? image["url"] : image, block);
  if (!FILE_BLOCKS.has(type)) return null;
  if (typeof data === "string") return filePart(rawOf(data), block);
  return linkPart(url, block);
}

function linkPart(url: unknown, block: JsonObject): Part | null {
  if (typeof url !== "string") return null;
  const { type, data } = DATA_URL.exec(url)?.groups ?? {};
  if (data === undefined) return filePart({ $case: "url", value: url }, block);
  return filePart(rawOf(data), { mime_type: type, ...block });
}

function rawOf(base64: string): Part["content"] {
  return { $case: "raw", value: Buffer.from(base64, "base64") };
}

function filePart(content: Part["content"], block: JsonObject): Part {
  const { mime_type: mediaType = block["mimeType"], metadata } = block;
  const filename = isObject(metadata) ? metadata["filename"] : undefined;
  return {
    content,
    metadata: undefined,
    filename: typeof filename === "string" ? filename : "",
    mediaType: typeof mediaType === "string" ? mediaType : "",
  };
}
