import { messageOf } from "../../src/lib/error-text.ts";
const USELESS_ADVICE = /^The Workers runtime failed to start\..*$/m;

/**
 * This message is a consequence and not a cause: a module that throws exports nothing that other Workers
 * could use.
 */
const NO_ENTRYPOINT = /has no such named entrypoint\.?$/;

/**
 * Returns the reason why workerd did not start, usually that a module of the project threw during evaluation.
 * It is taken from the JSON lines that workerd wrote to stderr.
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
