import { setTimeout as sleep } from "node:timers/promises";
import type { TracingPlatform } from "./tracing-platform.ts";

/** Deploys a tarball, waits until it serves, and returns the base URL of its agent server. */
export async function deployAgent(
  platform: TracingPlatform,
  name: string,
  tarball: Uint8Array,
  pollMs: number,
): Promise<string> {
  const { upload_url, object_path } = (await platform.control(
    "POST",
    "/deployments/upload-url",
  )) as { upload_url: string; object_path: string };
  const stored = await fetch(upload_url, { method: "PUT", body: new Uint8Array(tarball) });
  if (!stored.ok) throw new Error(`The upload gave ${stored.status}: ${await stored.text()}`);
  const source = {
    source: "internal_source",
    source_config: {},
    source_revision_config: { source_tarball_path: object_path },
  };
  return deploySource(platform, name, source, pollMs);
}

/** Does the same for any kind of source, given the fields of `source`. */
export async function deploySource(
  platform: TracingPlatform,
  name: string,
  source: object,
  pollMs: number,
): Promise<string> {
  const { id, latest_revision_id } = (await platform.control("POST", "/deployments", {
    name,
    ...source,
  })) as { id: string; latest_revision_id: string };
  const revision = `/deployments/${id}/revisions/${latest_revision_id}`;
  for (;;) {
    const { status, status_message: message } = (await platform.control("GET", revision)) as {
      status: string;
      status_message: string | null;
    };
    if (status === "DEPLOYED") break;
    if (status.includes("FAILED")) throw new Error(`The rollout ended as ${status}: ${message}`);
    await sleep(pollMs);
  }
  const { source_config } = (await platform.control("GET", `/deployments/${id}`)) as {
    source_config: { custom_url: string };
  };
  return source_config.custom_url;
}
