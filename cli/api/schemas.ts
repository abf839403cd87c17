import { z } from "zod";

/** The members of the control plane's responses that the commands use. Other members are passed through unchanged. */

export const deployment = z.looseObject({
  id: z.string().min(1),
  name: z.string(),
  status: z.string().nullish(),
  source_config: z.looseObject({ custom_url: z.string().nullish() }).nullish(),
  latest_revision_id: z.string().nullish(),
  active_revision_id: z.string().nullish(),
});

export type Deployment = z.infer<typeof deployment>;

export const revision = z.looseObject({
  id: z.string().min(1),
  status: z.string(),
  status_message: z.string().nullish(),
  created_at: z.string().nullish(),
});

export type Revision = z.infer<typeof revision>;

export const deploymentPage = z.object({ resources: z.array(deployment) });
export const revisionPage = z.object({ resources: z.array(revision) });

export const uploadTarget = z.object({
  upload_url: z.string().min(1),
  object_path: z.string().min(1),
});

export type UploadTarget = z.infer<typeof uploadTarget>;

export const LOG_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;

const logLine = z.looseObject({
  id: z.string(),
  /** Milliseconds since the epoch, or a formatted time. */
  timestamp: z.union([z.number(), z.string()]),
  level: z.string().nullish(),
  message: z.string(),
});

export type LogLine = z.infer<typeof logLine>;

export const logPage = z.object({ logs: z.array(logLine), next_offset: z.string().nullish() });

export type LogPage = z.infer<typeof logPage>;
