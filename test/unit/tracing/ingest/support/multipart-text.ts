import { utf8 } from "./bytes.ts";

export type WrittenPart = {
  name: string;
  body: string | Uint8Array;
  contentType?: string;
  /** How the part declares its length: like the JS or Python SDK, not at all, or with a wrong number. */
  length?: "parameter" | "header" | "none" | number;
};

export const BOUNDARY = "B7";

/** Writes a multipart/form-data body as the SDKs do. */
export function writeMultipart(parts: readonly WrittenPart[], eol = "\r\n"): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (const { name, body, contentType = "application/json", length = "parameter" } of parts) {
    const bytes = typeof body === "string" ? utf8(body) : body;
    const size = typeof length === "number" ? length : bytes.byteLength;
    const headers = [
      `--${BOUNDARY}`,
      `Content-Disposition: form-data; name="${name}"`,
      length === "header" || length === "none"
        ? `Content-Type: ${contentType}`
        : `Content-Type: ${contentType}; length=${size}`,
    ];
    if (length === "header") headers.push(`Content-Length: ${size}`);
    pieces.push(utf8(headers.join(eol) + eol + eol), bytes, utf8(eol));
  }
  pieces.push(utf8(`--${BOUNDARY}--${eol}`));
  return Uint8Array.from(Buffer.concat(pieces));
}
