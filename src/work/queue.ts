import type { z } from "zod";
import { parseSettings } from "../env.ts";
import { log } from "../lib/log.ts";

/** What one call to a queue takes. */
const MESSAGES_PER_CALL = 100;

/**
 * Says on a queue which rows are to be looked at. A message says no more than that, because it can be lost, come twice
 * or come late. It never fails: what no message tells of, the sweep finds.
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

/** Who looks at the rows that the messages of one queue name. */
export type QueueHandler = {
  /** How the queue is called, whatever the environment puts behind it. */
  queue: string;
  /** Looks at the row that a message names; a message that is none is passed over. */
  look: (body: unknown, env: Env, exports: Cloudflare.Exports) => Promise<void>;
  /** When a message comes again whose row could not be looked at. */
  retrySeconds: (env: Env) => number;
};

/** A handler of the messages that a schema describes. */
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

/** Gives each message of a batch to the handler of its queue. */
export async function consume(
  batch: MessageBatch,
  handlers: readonly QueueHandler[],
  env: Env,
  exports: Cloudflare.Exports,
): Promise<void> {
  const handler = handlers.find(({ queue }) => batch.queue.startsWith(queue));
  if (handler === undefined) throw new Error(`Nobody handles the queue ${batch.queue}`);
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
