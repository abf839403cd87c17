import type { PlatformProcess } from "./platform-process.ts";

/** The end of a rollout, by a revision's status. */
export const ENDED = /^(DEPLOYED|SKIPPED|CREATE_FAILED|BUILD_FAILED|DEPLOY_FAILED|INTERRUPTED)$/;

/** Asks a platform for something below `/v2/deployments`; the answer's JSON. */
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
