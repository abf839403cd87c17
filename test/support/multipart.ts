import { randomUUID } from "node:crypto";

export type Part = {
  name: string;
  body: string | Uint8Array;
  contentType?: string;
  /** Where the part declares its length; SDKs differ in this. */
  lengthIn?: "header" | "content-type" | "nowhere";
};

/** Returns a body for `/runs/multipart`, and its content type. */
export function multipartBody(parts: readonly Part[]): { body: Buffer; contentType: string } {
  const boundary = `----test-${randomUUID()}`;
  const chunks: Buffer[] = [];
  for (const { name, body, contentType = "application/json", lengthIn = "header" } of parts) {
    const bytes = Buffer.from(body);
    const length = lengthIn === "content-type" ? `; length=${bytes.length}` : "";
    const header = lengthIn === "header" ? `Content-Length: ${bytes.length}\r\n` : "";
    chunks.push(
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n` +
          `Content-Type: ${contentType}${length}\r\n${header}\r\n`,
      ),
      bytes,
      Buffer.from("\r\n"),
    );
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`));
  return {
    body: Buffer.concat(chunks),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}
