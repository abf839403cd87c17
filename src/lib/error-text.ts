/** The message of what was thrown, which may be no error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
