import { decodeMultipartRuns } from "../../src/tracing/ingest/decode/multipart-runs.ts";
import { readRequestBody } from "../../src/tracing/ingest/decode/request-body.ts";

const MAX_BYTES = 256 * 1024 * 1024;

/** Decodes and checks multipart requests with the platform's own decoder, and keeps nothing. */
export default {
  async fetch(request: Request): Promise<Response> {
    if (request.method !== "POST") return Response.json({ ok: true });
    const items = decodeMultipartRuns(
      readRequestBody(request, { maxBytes: MAX_BYTES }),
      request.headers.get("content-type"),
      { maxParts: 100_000, maxPartBytes: MAX_BYTES },
    );
    let writes = 0;
    for await (const item of items) {
      if (item.type !== "write") return Response.json(item, { status: 422 });
      writes += 1;
    }
    return Response.json({ writes }, { status: writes === 0 ? 422 : 202 });
  },
};
