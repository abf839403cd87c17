import { setTimeout as sleep } from "node:timers/promises";
import type { PlatformProcess } from "../../restart/support/platform-process.ts";
import type { Problems } from "../part.ts";

const RETRY_MS = 50;

/** Work of one kind that goes on while everything is killed, and remembers what was acknowledged. */
export type Workload = {
  name: string;
  /** Goes on until the signal says stop; a request that a kill meets is tried again. */
  run: (signal: AbortSignal) => Promise<void>;
  /** When no more kills come: waits for the end of what was acknowledged, and compares. */
  check: (problems: Problems) => Promise<void>;
  /** How much was acknowledged. */
  acknowledged: () => number;
};

export type Call = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** Requests with the key of the local workspace; throws for anything but a success. */
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

/** Tries again until the platform answers; null when it is time to stop before that. */
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
