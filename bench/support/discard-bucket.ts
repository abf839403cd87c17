import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";

/** Larger objects are only counted, unless they are to be kept. */
const SMALL_BYTES = 4096;

type StoredObject = { bytes: number; headers: Record<string, string>; body: Buffer | null };
type Upload = { bytes: number; headers: Record<string, string> };

export type DiscardBucket = {
  url: string;
  bucket: string;
  /** Sets the folder in which later objects are kept, or null to keep none. */
  keepIn: (folder: string | null) => void;
  /** Returns the bytes of the objects whose key begins with `prefix`. */
  bytesUnder: (prefix: string) => number;
  stop: () => Promise<void>;
};

/**
 * Starts a server with the part of S3 that an export uses. It takes objects as fast as they come, reports their sizes
 * and otherwise forgets them.
 */
export async function startDiscardBucket(): Promise<DiscardBucket> {
  const objects = new Map<string, StoredObject>();
  const uploads = new Map<string, Upload>();
  let folder: string | null = null;

  const receive = async (request: IncomingMessage, key: string, part: number) => {
    const file = folder === null || !key.endsWith(".parquet") ? null : join(folder, key);
    if (file !== null) mkdirSync(dirname(file), { recursive: true });
    const kept = file === null ? null : createWriteStream(file, { flags: part > 1 ? "a" : "w" });
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of request as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes <= SMALL_BYTES) pieces.push(piece);
      if (kept?.write(piece) === false) await once(kept, "drain");
    }
    if (kept !== null) {
      kept.end();
      await once(kept, "finish");
    }
    return { bytes, body: bytes <= SMALL_BYTES ? Buffer.concat(pieces) : null };
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://bucket");
    const key = decodeURIComponent(pathname).split("/").slice(2).join("/");
    const headers = metadataOf(request);
    const uploadId = searchParams.get("uploadId");
    const xml = (name: string, text: string) => response.end(`<${name}>${text}</${name}>`);
    switch (request.method) {
      case "PUT": {
        const part = Number(searchParams.get("partNumber") ?? 1);
        const { bytes, body } = await receive(request, key, part);
        const upload = uploadId === null ? undefined : uploads.get(uploadId);
        if (upload === undefined) objects.set(key, { bytes, headers, body });
        else upload.bytes += bytes;
        const etag = createHash("md5").update(`${key}${part}`).digest("hex");
        response.setHeader("etag", `"${etag}"`).end();
        return;
      }
      case "POST": {
        for await (const _piece of request);
        if (uploadId === null) {
          const id = randomUUID();
          uploads.set(id, { bytes: 0, headers });
          xml("InitiateMultipartUploadResult", `<UploadId>${id}</UploadId>`);
          return;
        }
        const upload = uploads.get(uploadId) ?? { bytes: 0, headers };
        uploads.delete(uploadId);
        objects.set(key, { ...upload, body: null });
        xml("CompleteMultipartUploadResult", "<ETag>complete</ETag>");
        return;
      }
      case "DELETE":
        objects.delete(key);
        response.writeHead(204).end();
        return;
      default: {
        const object = objects.get(key);
        if (object === undefined) {
          response.writeHead(404);
          if (request.method === "HEAD") response.end();
          else xml("Error", "<Code>NoSuchKey</Code>");
          return;
        }
        response.writeHead(200, { ...object.headers, "content-length": object.bytes });
        response.end(request.method === "HEAD" ? undefined : object.body);
      }
    }
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bucket: "bench",
    keepIn: (path) => {
      folder = path;
    },
    bytesUnder: (prefix) =>
      [...objects]
        .filter(([key]) => key.startsWith(prefix))
        .reduce((sum, [, { bytes }]) => sum + bytes, 0),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function metadataOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith("x-amz-meta-") && typeof value === "string" ? [[name, value]] : [],
    ),
  );
}
