import { requireRoom } from "../../../../lib/local-disk.ts";
import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../../../http/app-types.ts";
import { ApiError } from "../../../../lib/api-error.ts";
import { createRouter } from "../../../../http/router.ts";
import { collectRequestBody } from "../../../ingest/decode/request-body.ts";
import { InvalidRun } from "../../../ingest/decode/invalid-run.ts";
import { IngestSession } from "../../../ingest/ingest-session.ts";
import type { Attachment } from "../../../model/run-write.ts";
import {
  decodeTraces,
  encodeExportResponse,
  otlpEncoding,
  type PartialSuccess,
  summarizeReasons,
} from "../../../ingest/otlp/wire-format.ts";
import { holdSpans, type KnownParent, spanOf } from "../../../ingest/held-spans.ts";
import type { HeldSpan } from "../../../ingest/held-spans-object.ts";
import { type MappedSpans, mapSpans } from "../../../ingest/otlp/map-spans.ts";
import { InvalidTraces, UnsupportedContentType } from "../../../ingest/otlp/otlp-error.ts";
import { type PlacedSpanRun, toRunWrite } from "../../../ingest/otlp/place-spans.ts";
import type { SpanAttachment } from "../../../ingest/otlp/inputs-outputs.ts";
import type { Span } from "../../../ingest/otlp/span.ts";

export const otlpRoutes = createRouter();

otlpRoutes.openapi(
  createRoute({
    method: "post",
    path: "/otel/v1/traces",
    tags: ["Ingest"],
    summary: "Ingest an OTLP trace export, as protobuf or JSON",
    responses: {
      200: {
        description: "An ExportTraceServiceResponse, in the encoding of the request",
        content: { "application/json": { schema: z.looseObject({}) } },
      },
    },
  }),
  async (c) => {
    const contentType = c.req.header("content-type") ?? "";
    const spans = await readSpans(c, contentType);
    const projectName = c.req.header("langsmith-project");
    const mapped = mapSpans(spans, projectName === undefined ? {} : { projectName });
    const { rejected, reasons } = await storeSpans(c, mapped);
    const problems = [...mapped.rejected.map(({ message }) => message), ...reasons];
    const messages = [...problems, ...mapped.warnings];
    const partial: PartialSuccess = {
      rejectedSpans: mapped.rejected.length + rejected,
      errorMessage: summarizeReasons(messages),
    };
    const response = encodeExportResponse(
      otlpEncoding(contentType),
      messages.length === 0 ? undefined : partial,
    );
    return new Response(response.body, {
      headers: { "content-type": response.contentType },
    }) as never;
  },
);

async function readSpans(c: AppContext, contentType: string): Promise<Span[]> {
  try {
    // The content type is checked first, so that no long body is read in vain.
    otlpEncoding(contentType);
    const limits = { maxBytes: c.var.settings.maxPartBytes };
    return decodeTraces(await collectRequestBody(c.req.raw, limits), contentType);
  } catch (error) {
    if (error instanceof UnsupportedContentType) {
      throw new ApiError("unsupported_media_type", error.message);
    }
    if (error instanceof InvalidTraces) throw new ApiError("bad_request", error.message);
    throw error;
  }
}

async function storeSpans(
  c: AppContext,
  { runs, orphans }: MappedSpans,
): Promise<{ rejected: number; reasons: string[] }> {
  const { workspaceId } = c.var.scope;
  const session = new IngestSession(c.env, workspaceId, (promise) =>
    c.executionCtx.waitUntil(promise),
  );
  const reasons: string[] = [];
  const stored: PlacedSpanRun[] = [];
  for (const { run, attachments } of runs) {
    try {
      await session.add(toRunWrite(run, await upload(c, run.id, attachments)));
      stored.push(run);
    } catch (error) {
      if (!(error instanceof InvalidRun)) throw error;
      reasons.push(`${run.id}: ${error.field} ${error.message}`);
    }
  }
  await session.flush();
  reasons.push(...session.failures.map(({ message }) => message));

  const held: { traceId: string; span: HeldSpan }[] = [];
  for (const { parent, orphans: below } of orphans) {
    for (const { attachments, ...orphan } of below) {
      const span = { parent, orphan, attachments: await upload(c, orphan.run.id, attachments) };
      held.push({ traceId: orphan.span.traceId, span });
    }
  }
  await holdSpans(c.env, workspaceId, held, stored.flatMap(toParent));
  return { rejected: reasons.length, reasons };
}

/** Returns nothing for a run that has no span identity: no span can name it as its parent. */
function toParent(run: PlacedSpanRun): { traceId: string; parent: KnownParent }[] {
  const { traceId, spanId } = spanOf(run.extra);
  if (traceId === null) return [];
  const rootSpanId = run.parent_run_id === undefined ? spanId : null;
  return [{ traceId, parent: { runId: run.id, rootSpanId, dottedOrder: run.dotted_order } }];
}

async function upload(
  c: AppContext,
  runId: string,
  attachments: readonly SpanAttachment[],
): Promise<Attachment[]> {
  const uploaded: Attachment[] = [];
  for (const { name, mimeType, bytes } of attachments) {
    const object = `${c.var.scope.workspaceId}/attachments/${runId}/${crypto.randomUUID()}`;
    await requireRoom(c.env, bytes.byteLength);
    await c.env.PAYLOADS.put(object, bytes, { httpMetadata: { contentType: mimeType } });
    uploaded.push({ name, mimeType, bytes: bytes.byteLength, object });
  }
  return uploaded;
}
