const CHANNEL = "threadworks.key";
const WAIT_MS = 150;

type Message = { ask: true } | { key: string };

/**
 * Lets the tabs of one browser share a key, so that a link in a terminal opens signed in beside a tab that is. Only for
 * a local server: what else is served from its origin is its user's own.
 */
export function answerOtherTabs(key: string): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if ("ask" in data) channel.postMessage({ key } satisfies Message);
  });
  return () => channel.close();
}

/** Null when no other tab is signed in. */
export function askOtherTabs(): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if ("key" in data) resolve(data.key);
  });
  channel.postMessage({ ask: true } satisfies Message);
  setTimeout(() => resolve(null), WAIT_MS);
  return promise.finally(() => channel.close());
}
