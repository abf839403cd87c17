/** `build` and `deploy`: of a rollout. `server`: of the deployed code, while it serves. */
export const LOG_KINDS = ["build", "deploy", "server"] as const;

export type LogKind = (typeof LOG_KINDS)[number];

/** The mildest first. */
export const LOG_LINE_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;

export type LogLineLevel = (typeof LOG_LINE_LEVELS)[number];

export type LogLine = {
  kind: LogKind;
  /** Null where it is about the deployment as a whole. */
  revision_id: string | null;
  /** Epoch milliseconds. */
  timestamp: number;
  level: LogLineLevel;
  message: string;
};

/** How long a stored message may be; a longer one is cut, and says so at its end. */
const MAX_MESSAGE_CHARS = 8192;

/** The message as it is stored: whole characters, and not too many. */
export function storedMessage(message: string): string {
  if (message.length <= MAX_MESSAGE_CHARS) return message.toWellFormed();
  const end = ` [cut: ${message.length} characters]`;
  const kept = message.slice(0, MAX_MESSAGE_CHARS - end.length);
  // Half of a character at the end would become a replacement character.
  return kept.replace(/[\uD800-\uDBFF]$/, "").toWellFormed() + end;
}
