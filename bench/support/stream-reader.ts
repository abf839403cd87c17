import { once } from "node:events";
import { type Agent, get, type IncomingMessage } from "node:http";

/** A connection that reads the events of a run. */
export type StreamReader = {
  /** Resolves with the number of events that arrived, when the stream has ended. */
  ended: Promise<number>;
  leave: () => void;
};

const FRAME_END = Buffer.from("\n\n");

/** Joins a run's stream from its first event on. Resolves when the response has begun. */
export async function openReader(
  url: string,
  run: { thread_id: string; run_id: string },
  agent: Agent,
): Promise<StreamReader> {
  const path = `/threads/${run.thread_id}/runs/${run.run_id}/stream`;
  const request = get(url + path, { agent, headers: { "last-event-id": "-1" } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`A reader got ${response.statusCode}`);
  const { promise: ended, resolve, reject } = Promise.withResolvers<number>();
  ended.catch(() => undefined);
  let events = 0;
  let endsInBreak = false;
  response.on("data", (bytes: Buffer) => {
    // A chunk boundary may split the end of a frame.
    if (endsInBreak && bytes[0] === FRAME_END[1]) events += 1;
    for (let at = bytes.indexOf(FRAME_END); at !== -1; at = bytes.indexOf(FRAME_END, at + 2)) {
      events += 1;
    }
    endsInBreak = bytes.at(-1) === FRAME_END[0] && bytes.at(-2) !== FRAME_END[0];
  });
  response.once("end", () => resolve(events));
  response.once("error", reject);
  return { ended, leave: () => request.destroy() };
}
