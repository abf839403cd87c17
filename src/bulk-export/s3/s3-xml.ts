import { isObject } from "../../lib/json.ts";
import { XMLParser } from "fast-xml-parser";

/** An XML document of S3: the name of its root, and those children of the root that are texts. */
export type S3Document = { root: string; texts: Record<string, string> };

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  removeNSPrefix: true,
});

/** Reads a document. Returns null for anything else: HTML, JSON, truncated or empty bodies. */
export function readS3Document(bytes: Uint8Array): S3Document | null {
  // AWS sends white space before the declaration while it is still assembling an object.
  const text = new TextDecoder().decode(bytes).trim();
  if (!text.startsWith("<") || /^<!doctype/i.test(text) || text.includes("<!ENTITY")) return null;
  const parsed = parse(text);
  const [root, ...others] = Object.entries(parsed);
  if (root === undefined || others.length > 0) return null;
  const [name, content] = root;
  if (!text.endsWith(`${name}>`)) return null;
  const texts = Object.entries(isObject(content) ? content : {}).flatMap(([key, value]) =>
    typeof value === "string" ? [[key, value] as const] : [],
  );
  return { root: name, texts: Object.fromEntries(texts) };
}

/** Returns the body that completes a multipart upload. The first ETag is that of part 1. */
export function completeUploadXml(etags: readonly string[]): Uint8Array {
  const parts = etags.map(
    (etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escapeText(etag)}</ETag></Part>`,
  );
  const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";
  return new TextEncoder().encode(
    `<CompleteMultipartUpload xmlns="${namespace}">${parts.join("")}</CompleteMultipartUpload>`,
  );
}

function parse(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = parser.parse(text);
    return isObject(parsed) ? parsed : {};
  } catch {
    // The text is not XML, which the caller reports.
    return {};
  }
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
