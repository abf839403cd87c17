/** `build` and `deploy` lines are about a rollout; `server` lines come from the deployed code while it serves. */
export const LOG_KINDS = ["build", "deploy", "server"] as const;

export type LogKind = (typeof LOG_KINDS)[number];

/** The levels in ascending order of severity. */
export const LOG_LINE_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;

export type LogLineLevel = (typeof LOG_LINE_LEVELS)[number];

export type LogLine = {
  kind: LogKind;
  /** Null if the line concerns the deployment as a whole. */
  revision_id: string | null;
  /** Epoch milliseconds. */
  timestamp: number;
  level: LogLineLevel;
  message: string;
};

/** Maximum characters of a stored message; a longer one is cut, which is noted at its end. */
const MAX_MESSAGE_CHARS = 8192;

/** Returns the message in the form in which it is stored: well-formed, and cut to the maximum length. */
export function storedMessage(message: string): string {
  if (message.length <= MAX_MESSAGE_CHARS) return message.toWellFormed();
  const end = ` [cut: ${message.length} characters]`;
  const kept = message.slice(0, MAX_MESSAGE_CHARS - end.length);
  // An unpaired surrogate at the end would become a replacement character.
  return kept.replace(/[\uD800-\uDBFF]$/, "").toWellFormed() + end;
}
