/** A failure whose message is all that the user needs: no stack trace is printed. */
export class CliError extends Error {
  override name = "CliError";
}

/**
 * Returns the text of an error for a terminal: the message of a `CliError`, or the stack trace of any other
 * error.
 */
export function describeError(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (error instanceof Error) return error.stack ?? error.message;
  return String(error);
}
