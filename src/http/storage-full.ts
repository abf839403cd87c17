import { log } from "../lib/log.ts";
import { ApiError } from "../lib/api-error.ts";
import { isDiskFull } from "../lib/local-disk.ts";
import { UNEXPLAINED } from "../lib/error-text.ts";

/** The messages of SQLite, D1 and the operating system. */
const FULL = /database or disk is full|exceeded maximum db size|no space left on device/i;

const MAX_CAUSES = 5;

/**
 * Returns the error to respond with: a 507 that says what to do when `error` was caused by full storage, otherwise
 * `error` itself.
 */
export async function explainStorage(error: Error, env: unknown): Promise<Error> {
  if (error instanceof ApiError && error.cause === undefined) return error;
  const messages = messagesOf(error);
  const isFull =
    messages.some((message) => FULL.test(message)) ||
    (messages.some((message) => UNEXPLAINED.test(message)) && (await isDiskFull(env)));
  if (!isFull) return error;
  log("error", "error", { event: "storage_full", error: messages.join(": ") });
  return storageFull(error);
}

export function storageFull(cause?: unknown): ApiError {
  return new ApiError(
    "insufficient_storage",
    "The storage of this installation is full, so the request was not carried out: free some space, and send it again",
    { cause },
  );
}

function messagesOf(error: unknown): string[] {
  const messages: string[] = [];
  for (let each = error; each instanceof Error && messages.length < MAX_CAUSES; each = each.cause) {
    messages.push(each.message);
  }
  return messages;
}
