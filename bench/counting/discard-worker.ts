import { DurableObject } from "cloudflare:workers";
import { decodeMultipartRuns } from "../../src/tracing/ingest/decode/multipart-runs.ts";
import { readRequestBody } from "../../src/tracing/ingest/decode/request-body.ts";
import type { RunWrite } from "../../src/tracing/model/run-write.ts";

const MAX_BYTES = 256 * 1024 * 1024;

type KeepingEnv = { KEPT: DurableObjectNamespace<KeptObject> };

/** Stores each request in one row that nothing can look up: the least work that storing it can be. */
export class KeptObject extends DurableObject {
  readonly #sql: SqlStorage;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#sql.exec("CREATE TABLE IF NOT EXISTS kept (id INTEGER PRIMARY KEY, body TEXT NOT NULL)");
  }

  keep(body: string): void {
    this.#sql.exec("INSERT INTO kept (body) VALUES (?)", body);
  }
}

/**
 * Decodes and checks multipart requests with the platform's own decoder, and discards them. For requests to `/kept`,
 * one object stores the decoded writes, as one text in one row.
 */
export default {
  async fetch(request: Request, env: KeepingEnv): Promise<Response> {
    if (request.method !== "POST") return Response.json({ ok: true });
    const items = decodeMultipartRuns(
      readRequestBody(request, { maxBytes: MAX_BYTES }),
      request.headers.get("content-type"),
      { maxParts: 100_000, maxPartBytes: MAX_BYTES },
    );
    const isKept = new URL(request.url).pathname === "/kept";
    const kept: RunWrite[] = [];
    let writes = 0;
    for await (const item of items) {
      if (item.type !== "write") return Response.json(item, { status: 422 });
      writes += 1;
      if (isKept) kept.push(item.write);
    }
    if (isKept) await env.KEPT.getByName("all").keep(JSON.stringify(kept));
    return Response.json({ writes }, { status: writes === 0 ? 422 : 202 });
  },
};
