import type { z } from "zod";
import { parseSettings } from "../env.ts";
import { log } from "../lib/log.ts";

/** Maximum messages of one call to a queue. */
const MESSAGES_PER_CALL = 100;

/**
 * Sends messages that name rows to look at. A message carries nothing else, because it can be lost, delivered
 * twice or delivered late. This never rejects: the sweep finds rows whose message was lost.
 */
export async function nudge(
  env: Pick<Env, "LOG_LEVEL">,
  queue: Queue,
  messages: readonly object[],
  delayMs = 0,
): Promise<void> {
  const delaySeconds = Math.max(Math.ceil(delayMs / 1000), 0);
  for (let start = 0; start < messages.length; start += MESSAGES_PER_CALL) {
    const part = messages.slice(start, start + MESSAGES_PER_CALL);
    try {
      await queue.sendBatch(part.map((body) => ({ body, delaySeconds })));
    } catch (error) {
      const fields = { event: "nudge_lost", messages: part.length, first: JSON.stringify(part[0]) };
      log(parseSettings(env).logLevel, "warn", { ...fields, error: String(error) });
    }
  }
}

/** Handles the rows that the messages of one queue name. */
export type QueueHandler = {
  /** The queue's name without the suffix that an environment may add. */
  queue: string;
  /** Looks at the row that a message names; ignores invalid messages. */
  look: (body: unknown, env: Env, exports: Cloudflare.Exports) => Promise<void>;
  /** Seconds until a message is delivered again after its row could not be looked at. */
  retrySeconds: (env: Env) => number;
};

/** Makes a handler of messages that match a schema. */
export function queueHandler<Message>(handler: {
  queue: string;
  message: z.ZodType<Message>;
  look: (message: Message, env: Env, exports: Cloudflare.Exports) => Promise<void>;
  retrySeconds: (env: Env) => number;
}): QueueHandler {
  const { queue, message, look, retrySeconds } = handler;
  return {
    queue,
    retrySeconds,
    look: async (body, env, exports) => {
      const parsed = message.safeParse(body);
      if (parsed.success) await look(parsed.data, env, exports);
    },
  };
}

/** Passes each message of a batch to the handler of its queue. */
export async function consume(
  batch: MessageBatch,
  handlers: readonly QueueHandler[],
  env: Env,
  exports: Cloudflare.Exports,
): Promise<void> {
  const handler = handlers.find(({ queue }) => batch.queue.startsWith(queue));
  if (handler === undefined)
    throw new Error(`No handler is registered for the queue ${batch.queue}`);
  for (const message of batch.messages) {
    try {
      await handler.look(message.body, env, exports);
      message.ack();
    } catch (error) {
      log(parseSettings(env).logLevel, "error", {
        event: "message_failed",
        queue: batch.queue,
        message: JSON.stringify(message.body),
        error: String(error),
      });
      message.retry({ delaySeconds: handler.retrySeconds(env) });
    }
  }
}
