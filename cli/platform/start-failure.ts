import { messageOf } from "../../src/lib/error-text.ts";
const USELESS_ADVICE = /^The Workers runtime failed to start\..*$/m;

/** A consequence, not a reason: a module that throws exports nothing that other Workers could use. */
const NO_ENTRYPOINT = /has no such named entrypoint\.?$/;

/**
 * Why workerd did not start, most often because a module of the project threw while it was evaluated:
 * the messages in the lines of JSON that workerd leaves on stderr.
 */
export function startFailure(error: unknown): string {
  const text = messageOf(error);
  const messages = text.split("\n").flatMap((line) => {
    try {
      const { message } = JSON.parse(line) as { message?: unknown };
      return typeof message === "string" ? [message.replace(/^service core:user:\S+ /, "")] : [];
    } catch {
      return [];
    }
  });
  const reasons = messages.filter((message) => !NO_ENTRYPOINT.test(message));
  if (messages.length === 0) return text.replace(USELESS_ADVICE, "").trim() || text;
  return `the project could not be started:\n${(reasons.length === 0 ? messages : reasons).join("\n")}`;
}
