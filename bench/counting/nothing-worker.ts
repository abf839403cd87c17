import { answerThreads, eventText } from "./answer-threads.ts";

/**
 * Stores nothing and asks nobody: a thread is a random id, and a stream is its first event. The time to that event is
 * what the client, HTTP and workerd alone take.
 */
export default {
  fetch: (request: Request): Promise<Response> =>
    answerThreads(request, {
      create: async () => true,
      wait: async () => "{}",
      stream: async () => {
        const { readable, writable } = new IdentityTransformStream();
        const event = eventText("metadata", JSON.stringify({ run_id: crypto.randomUUID() }));
        const to = writable.getWriter();
        void to.write(new TextEncoder().encode(event)).then(() => to.close());
        return readable;
      },
    }),
};
