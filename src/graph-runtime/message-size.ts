/** What one call over RPC may carry, with room for what surrounds it; the platform's limit is 32 MiB. */
export const MAX_MESSAGE_BYTES = 24 * 1024 * 1024;

/** What all values of a state may have together; a run's last message has up to a mebibyte of events beside them. */
export const MAX_VALUES_BYTES = 30 * 1024 * 1024;

/** One value that a graph produced is larger than can be stored. */
class ValueTooLargeError extends Error {
  override readonly name = "ValueTooLargeError";
}

/** The bytes that a text takes in a message: two for each character when one of them is beyond Latin-1. */
export function messageBytes(text: string): number {
  return /[\u0100-\uffff]/.test(text) ? 2 * text.length : text.length;
}

/** Throws a ValueTooLargeError when a value has more bytes than a message can carry. */
export function requireMessageSize(bytes: number, limit = MAX_MESSAGE_BYTES): void {
  if (bytes <= limit) return;
  throw new ValueTooLargeError(
    `One value of ${bytes} bytes was produced; at most ${limit} can be stored.`,
  );
}
