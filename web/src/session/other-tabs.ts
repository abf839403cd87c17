const CHANNEL = "threadworks.key";
const WAIT_MS = 150;

type Message = { ask: true } | { key: string };

/**
 * Shares this tab's key with the browser's other tabs, so that a link from a terminal opens signed in when
 * another tab is signed in. Used only with a local server, where everything on its origin belongs to the same
 * user.
 */
export function answerOtherTabs(key: string): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if ("ask" in data) channel.postMessage({ key } satisfies Message);
  });
  return () => channel.close();
}

/** Asks the other tabs for their key. Resolves with null when none is signed in. */
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
