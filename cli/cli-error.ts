/** A failure whose message is all that the person at the terminal needs: no stack is printed. */
export class CliError extends Error {
  override name = "CliError";
}

/** One line per cause, for a terminal. */
export function describeError(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (error instanceof Error) return error.stack ?? error.message;
  return String(error);
}
