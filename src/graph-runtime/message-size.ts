/** Maximum bytes of one RPC call, with room for what surrounds them; the platform's limit is 32 MiB. */
export const MAX_MESSAGE_BYTES = 24 * 1024 * 1024;

/** Maximum bytes of all values of a state together. A run's last message also carries up to 1 MiB of events. */
export const MAX_VALUES_BYTES = 30 * 1024 * 1024;

/** Thrown for a single value of a graph that is too large to be stored. */
class ValueTooLargeError extends Error {
  override readonly name = "ValueTooLargeError";
}

/**
 * Returns the bytes that a text takes in a message: two for each UTF-16 code unit when any of them is outside
 * Latin-1, else one.
 */
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
