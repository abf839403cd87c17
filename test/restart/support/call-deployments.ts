import type { PlatformProcess } from "./platform-process.ts";

/** The statuses of a revision whose rollout has ended. */
export const ENDED = /^(DEPLOYED|SKIPPED|CREATE_FAILED|BUILD_FAILED|DEPLOY_FAILED|INTERRUPTED)$/;

/** Sends a request to a path below `/v2/deployments`, and returns the JSON of the answer. */
export async function callDeployments(
  platform: PlatformProcess,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(`${platform.url}/v2/deployments${path}`, {
    method,
    headers: { "x-api-key": platform.apiKey },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}: ${text}`);
  return JSON.parse(text);
}
