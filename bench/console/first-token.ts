import type { Page } from "playwright-core";

const STORED = "bench.delays";

/**
 * Makes every page measure how long the first token of an answer takes from its arrival to the frame that shows it. A
 * second reader notes the arrival beside the page's own reader. The delays are in the session storage, so they survive
 * a reload.
 */
export async function observeStreams(page: Page): Promise<void> {
  await page.addInitScript((stored) => {
    let arrived: number | null = null;
    const ask = globalThis.fetch;
    globalThis.fetch = async (...request) => {
      const response = await ask(...request);
      const isStream = response.headers.get("content-type")?.includes("text/event-stream");
      if (response.body === null || isStream !== true) return response;
      const [own, noted] = response.body.tee();
      void note(noted);
      const { status, headers } = response;
      const copy = new Response(own, { status, headers });
      return copy;
    };
    async function note(body: ReadableStream<Uint8Array>): Promise<void> {
      const reader = body
        .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
        .getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        // This is the agent's first text.
        if (arrived === null && /"content":"[^"][^\n]*"type":"(?:ai|AIMessageChunk)"/.test(value)) {
          arrived = performance.now();
          watch();
        }
      }
    }
    function watch(): void {
      const observer = new MutationObserver(() => {
        const words =
          document.querySelectorAll("article")[1]?.querySelector("p")?.textContent ?? "";
        if (words === "") return;
        observer.disconnect();
        requestAnimationFrame(() => {
          const delays = JSON.parse(sessionStorage.getItem(stored) ?? "[]") as number[];
          delays.push(performance.now() - (arrived ?? 0));
          sessionStorage.setItem(stored, JSON.stringify(delays));
        });
      });
      observer.observe(document, { subtree: true, childList: true, characterData: true });
    }
  }, STORED);
}

/** The delays of all chats in this tab, in milliseconds. */
export async function firstTokenDelays(page: Page): Promise<number[]> {
  const text = await page.evaluate((stored) => sessionStorage.getItem(stored), STORED);
  return JSON.parse(text ?? "[]") as number[];
}
