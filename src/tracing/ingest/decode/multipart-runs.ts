import type { NoteUnknown } from "../../../lib/unknown-members.ts";
import { InvalidJson, type JsonValue, parseJsonValue } from "./json-value.ts";
import { malformedRun } from "./invalid-run.ts";
import { multipartBoundary, type MultipartLimits, MultipartReader } from "./multipart.ts";
import { type BodyPart, PartTooLarge } from "./part-body.ts";
import { type PartName, parsePartName } from "./part-head.ts";
import { type AssembledRun, RunAssembly } from "./run-assembly.ts";

export type MultipartRunLimits = MultipartLimits & {
  /** Maximum bytes of one JSON part; attachments are not held in memory. */
  maxPartBytes: number;
};

export type MultipartItem =
  | AssembledRun
  | { type: "feedback"; id: string; value: unknown }
  | {
      type: "attachment";
      runId: string;
      name: string;
      mimeType: string;
      /** In bytes; null if the client does not declare it. */
      length: number | null;
      /** Must be read, if at all, before the next item is requested. */
      stream: ReadableStream<Uint8Array>;
    };

const DEFAULT_MIME_TYPE = "application/octet-stream";

/**
 * Decodes a multipart request into runs, attachments and feedback, each as soon as it is complete. A run
 * comes after its attachments if they follow each other in the request. An invalid part fails only its
 * run. Broken framing throws an ApiError, after the items that were complete before it. Unknown parts and
 * members are ignored and reported to `onUnknown`.
 */
export async function* decodeMultipartRuns(
  source: AsyncIterable<Uint8Array>,
  contentType: string | null,
  limits: MultipartRunLimits,
  onUnknown: NoteUnknown = () => {},
): AsyncGenerator<MultipartItem> {
  const reader = new MultipartReader(source, multipartBoundary(contentType), limits);
  const assembly = new RunAssembly(onUnknown);
  try {
    for (;;) {
      let part: BodyPart | null;
      try {
        const next = reader.next();
        part = next instanceof Promise ? await next : next;
      } catch (error) {
        // The error does not affect the run before it.
        for (const item of assembly.close()) yield item;
        throw error;
      }
      if (part === null) break;
      const name = parsePartName(part.name);
      if (name.type === "unknown") {
        onUnknown(name.members);
        continue;
      }
      // This precedes the reading of the part, whose errors do not affect the run before it.
      if ("runId" in name && name.runId !== null) {
        for (const item of assembly.turnTo(name.runId)) yield item;
      }
      const items = itemsOf(part, name, assembly, limits);
      for (const item of items instanceof Promise ? await items : items) yield item;
    }
    for (const item of assembly.end()) yield item;
  } finally {
    await reader.cancel();
  }
}

/** Waits only for a part that has not arrived yet. */
function itemsOf(
  part: BodyPart,
  name: Exclude<PartName, { type: "unknown" }>,
  assembly: RunAssembly,
  limits: MultipartRunLimits,
): MultipartItem[] | Promise<MultipartItem[]> {
  switch (name.type) {
    case "run":
    case "field":
      return withJson(part, limits, (result) =>
        "json" in result ? assembly.add(name, result.json) : assembly.fail(name, result.reason),
      );
    case "feedback":
      return withJson(part, limits, (result) => [
        "json" in result
          ? { type: "feedback", id: name.feedbackId, value: result.json.value }
          : { type: "failure", failure: malformedRun(null, part.name, result.reason) },
      ]);
    case "attachment":
      return [
        {
          type: "attachment",
          runId: name.runId,
          name: name.attachment,
          mimeType: part.contentType === "" ? DEFAULT_MIME_TYPE : part.contentType,
          length: part.length,
          stream: part.stream(),
        },
      ];
    case "invalid":
      return [{ type: "failure", failure: malformedRun(name.runId, part.name, name.reason) }];
  }
}

type PartJson = { json: JsonValue } | { reason: string };

function withJson(
  part: BodyPart,
  limits: MultipartRunLimits,
  use: (result: PartJson) => MultipartItem[],
): MultipartItem[] | Promise<MultipartItem[]> {
  let bytes: Uint8Array | Promise<Uint8Array>;
  try {
    bytes = part.bytes(limits.maxPartBytes);
  } catch (error) {
    return use({ reason: reasonOf(error) });
  }
  if (!(bytes instanceof Promise)) return use(parse(bytes));
  return bytes.then(
    (bytes) => use(parse(bytes)),
    (error: unknown) => use({ reason: reasonOf(error) }),
  );
}

function parse(bytes: Uint8Array): PartJson {
  try {
    return { json: parseJsonValue(bytes) };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/** Returns the message for an error that fails one run; rethrows any other error. */
function reasonOf(error: unknown): string {
  if (error instanceof InvalidJson) return error.message;
  if (error instanceof PartTooLarge) return `is ${error.message}`;
  throw error;
}
