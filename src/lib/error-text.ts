/** Returns the message of a thrown value, which may be something other than an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The whole message that the runtime gives for an internal failure: a failed write to the disk, a host without address. */
export const UNEXPLAINED = /^internal error; reference = \w+$/;
