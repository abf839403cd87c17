import { queryOptions } from "@tanstack/react-query";
import { upload } from "./request.ts";
import type { ControlPlane } from "./tracing.ts";

export type Deployment = {
  id: string;
  name: string;
  display_name: string | null;
  source: string;
  source_config: {
    template_id: string | null;
    custom_url: string;
    repo_url: string | null;
    build_on_push: boolean | null;
    previews: boolean | null;
    preview_of: string | null;
    preview_branch: string | null;
    webhook_url: string | null;
  };
  /** Applies to the latest revision. */
  source_revision_config: RevisionConfig;
  secrets: { name: string }[];
  status: string;
  latest_revision_id: string;
  active_revision_id: string | null;
  created_at: string;
  updated_at: string;
};

type RevisionConfig = {
  source_tarball_path: string | null;
  repo_ref: string | null;
  repo_commit_sha: string | null;
};

export type Revision = {
  id: string;
  status: string;
  status_message: string | null;
  source: string;
  source_revision_config: RevisionConfig;
  created_at: string;
  updated_at: string;
};

export type UsageDay = {
  day: string;
  requests: number;
  refused: number;
  bytes_sent: number;
  bytes_received: number;
  storage_operations: number;
};

export type Secret = { name: string; value: string };

/** A secret to change; without a value it keeps its former one. */
export type SecretChange = { name: string; value?: string };

/** The source of a deployment or of its next revision: a template by its name, or a project's tarball. */
export type Source = { template: string } | { tarball: File };

const FOLLOW_MS = 1_500;
const MOST = 100;

const ENDED = /^(DEPLOYED|SKIPPED|INTERRUPTED|\w+_FAILED)$/;

export function isRolledOut({ status }: Revision): boolean {
  return ENDED.test(status);
}

/** Whether the revision serves, or did so before a later one. */
export function hasServed({ status }: Revision): boolean {
  return status === "DEPLOYED";
}

type Page<T> = { resources: T[] };

export function deploymentsQuery(control: ControlPlane) {
  return queryOptions({
    queryKey: ["deployments"],
    queryFn: async ({ signal }) =>
      (await control<Page<Deployment>>(`/deployments?limit=${MOST}`, { signal })).resources,
    refetchInterval: FOLLOW_MS * 4,
  });
}

export function deploymentQuery(control: ControlPlane, id: string) {
  return queryOptions({
    queryKey: ["deployments", id],
    queryFn: ({ signal }) => control<Deployment>(pathOf(id), { signal }),
  });
}

export function previewsQuery(control: ControlPlane, id: string) {
  return queryOptions({
    queryKey: ["deployments", id, "previews"],
    queryFn: async ({ signal }) =>
      (
        await control<Page<Deployment>>(
          `/deployments?preview_of=${encodeURIComponent(id)}&limit=${MOST}`,
          { signal },
        )
      ).resources,
    refetchInterval: FOLLOW_MS * 4,
  });
}

/** Loads the revisions, the newest first, and polls faster while one of them is in progress. */
export function revisionsQuery(control: ControlPlane, id: string) {
  return queryOptions({
    queryKey: ["deployments", id, "revisions"],
    queryFn: async ({ signal }) =>
      (await control<Page<Revision>>(`${pathOf(id)}/revisions?limit=${MOST}`, { signal }))
        .resources,
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.every(isRolledOut) ? FOLLOW_MS * 4 : FOLLOW_MS,
  });
}

export function usageQuery(control: ControlPlane, id: string) {
  return queryOptions({
    queryKey: ["deployments", id, "usage"],
    queryFn: async ({ signal }) =>
      (await control<Page<UsageDay>>(`${pathOf(id)}/usage?limit=31`, { signal })).resources,
  });
}

export function templatesQuery(control: ControlPlane) {
  return queryOptions({
    queryKey: ["templates"],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const { resources } = await control<Page<{ template_id: string }>>("/deployments/templates", {
        signal,
      });
      return resources.map(({ template_id }) => template_id);
    },
  });
}

export async function createDeployment(
  control: ControlPlane,
  { name, source, secrets }: { name: string; source: Source; secrets: readonly Secret[] },
): Promise<Deployment> {
  const isTemplate = "template" in source;
  const config = isTemplate
    ? {}
    : { source_tarball_path: await uploadTarball(control, "/deployments", source.tarball) };
  return control<Deployment>("/deployments", {
    method: "POST",
    body: {
      name,
      source: isTemplate ? "internal_template" : "internal_source",
      source_config: isTemplate ? { template_id: source.template } : {},
      source_revision_config: config,
      secrets,
    },
  });
}

/** Creates a revision from another tarball. The secrets are kept. */
export async function deployTarball(
  control: ControlPlane,
  id: string,
  tarball: File,
): Promise<void> {
  const source_tarball_path = await uploadTarball(control, pathOf(id), tarball);
  await control(`${pathOf(id)}/revisions`, {
    method: "POST",
    body: { revision_source: "internal_source", source_revision_config: { source_tarball_path } },
  });
}

async function uploadTarball(control: ControlPlane, of: string, file: File): Promise<string> {
  const place = await control<{ upload_url: string; object_path: string }>(`${of}/upload-url`, {
    method: "POST",
    body: {},
  });
  await upload(place.upload_url, file);
  return place.object_path;
}

export function pathOf(id: string): string {
  return `/deployments/${encodeURIComponent(id)}`;
}
