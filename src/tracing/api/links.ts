import type { AppContext } from "../../http/app-types.ts";
import { microsToIso } from "../../lib/time.ts";
import type { LinkSettings } from "../attachments/attachment-url.ts";
import type { PlacedRun } from "../query/run-source.ts";

/** What links in an answer are made of: they lead to the host that was asked. */
export function linkSettings(c: AppContext): LinkSettings {
  return { signingSecret: c.var.settings.signingSecret, requestUrl: c.req.url };
}

/** The run's page in the console, on the same host. */
export function appPath({ run, ref }: PlacedRun): string {
  return `/o/${ref.workspaceId}/projects/p/${ref.projectId}/r/${run.id}?trace_id=${run.trace_id}&start_time=${encodeURIComponent(microsToIso(run.start_time))}`;
}
