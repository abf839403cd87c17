import { ApiError } from "../../lib/api-error.ts";
import type { MultipartItem } from "./decode/multipart-runs.ts";
import { malformedRun, type RunFailure } from "./decode/invalid-run.ts";
import type { IngestSession } from "./ingest-session.ts";
import type { ReceivedAttachments } from "./received-attachments.ts";
import { FeedbackBodyError, type FeedbackInput } from "../feedback/feedback-input.ts";
import type { FeedbackDeps } from "../feedback/feedback-shards.ts";
import { recordFeedback } from "../feedback/record-feedback.ts";

type MultipartStore = {
  session: IngestSession;
  attachments: ReceivedAttachments;
  feedback: ReceivedFeedback;
};

/**
 * Stores the items of a request while they arrive; those not stored are among the session's failures. Returns
 * the error that broke the request off, or null: what was complete before it is stored.
 */
export async function storeMultipart(
  items: AsyncIterable<MultipartItem>,
  store: MultipartStore,
): Promise<ApiError | null> {
  const { session, attachments, feedback } = store;
  const written = new Set<string>();
  let broken: ApiError | null = null;
  try {
    for await (const item of items) {
      if (item.type === "write") written.add(item.write.id);
      await storeItem(item, store);
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    broken = error;
  }
  if (broken === null) {
    // No part of a refused run is stored.
    const refused = new Set<string>();
    for (const { runId } of session.failures) {
      if (runId !== null && !written.has(runId)) refused.add(runId);
    }
    for (const write of attachments.remaining(refused)) await session.add(write);
  }
  await session.flush();
  await feedback.flush();
  for (const failure of feedback.failures) session.failures.push(failure);
  await attachments.discardWaiting();
  return broken;
}

async function storeItem(
  item: MultipartItem,
  { session, attachments, feedback }: MultipartStore,
): Promise<void> {
  switch (item.type) {
    case "write":
      return session.add(attachments.addTo(item.write));
    case "failure":
      session.failures.push(item.failure);
      return;
    case "attachment": {
      const reason = await attachments.receive(item);
      if (reason === null) return;
      const field = `attachment.${item.runId}.${item.name}`;
      session.failures.push(malformedRun(item.runId, field, reason));
      return;
    }
    case "feedback":
      if (!feedback.add(item)) return;
      // The run is stored first, so that the feedback finds it at once.
      await session.flush();
      await feedback.flush();
  }
}

/** Reads feedback from the JSON of a part. Throws a FeedbackBodyError. */
type ReadFeedback = (value: unknown, defaultId: string) => FeedbackInput;

/** Maximum number of items in memory, each of which has half a megabyte at most. */
const MAX_HELD = 50;

/** The feedback of one request, recorded some at a time. */
export class ReceivedFeedback {
  readonly failures: RunFailure[] = [];
  readonly #deps: FeedbackDeps;
  readonly #workspaceId: string;
  readonly #read: ReadFeedback;
  #held: FeedbackInput[] = [];

  constructor(deps: FeedbackDeps, workspaceId: string, read: ReadFeedback) {
    this.#deps = deps;
    this.#workspaceId = workspaceId;
    this.#read = read;
  }

  /** Returns true if `flush` has to be called before more is added. */
  add({ id, value }: { id: string; value: unknown }): boolean {
    try {
      this.#held.push(this.#read(value, id));
    } catch (error) {
      if (!(error instanceof FeedbackBodyError)) throw error;
      this.#fail(id, error);
    }
    return this.#held.length >= MAX_HELD;
  }

  async flush(): Promise<void> {
    const inputs = this.#held;
    if (inputs.length === 0) return;
    this.#held = [];
    for (const outcome of await recordFeedback(this.#deps, this.#workspaceId, inputs)) {
      if (!outcome.ok) this.#fail(outcome.id, outcome);
    }
  }

  #fail(id: string, { field, message }: { field: string; message: string }): void {
    const text = field === "" ? message : `${field}: ${message}`;
    this.failures.push(malformedRun(null, `feedback.${id}`, text));
  }
}
