import { setTimeout as sleep } from "node:timers/promises";
import type { PlatformProcess } from "../../restart/support/platform-process.ts";
import type { Problems } from "../part.ts";

const RETRY_MS = 50;

/** Work of one kind that continues while everything is killed, and remembers what was acknowledged. */
export type Workload = {
  name: string;
  /** Works until the signal is aborted. A request that a kill interrupts is retried. */
  run: (signal: AbortSignal) => Promise<void>;
  /** Is called after the last kill: waits until the acknowledged work has ended, and checks it. */
  check: (problems: Problems) => Promise<void>;
  /** Returns the amount of acknowledged work. */
  acknowledged: () => number;
};

export type Call = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** Returns a function that sends requests with the key of the local workspace. It throws unless they succeed. */
export function callTo(platform: PlatformProcess): Call {
  return async (method, path, body) => {
    const response = await fetch(platform.url + path, {
      method,
      headers: { "x-api-key": platform.apiKey, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}: ${text}`);
    return text === "" ? null : JSON.parse(text);
  };
}

/** Retries until the platform answers. Returns null if the signal is aborted before that. */
export async function acknowledgedBy<T>(
  request: () => Promise<T>,
  signal: AbortSignal,
): Promise<T | null> {
  while (!signal.aborted) {
    try {
      return await request();
    } catch {
      await sleep(RETRY_MS);
    }
  }
  return null;
}
