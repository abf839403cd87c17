import { z } from "zod";
import type { CloudflareApi } from "./cloudflare-api.ts";
import type { InstallationConfig } from "./installation-config.ts";

/** A resource of an installation, which has to exist before the Worker does. */
export type Resource = {
  kind: "database" | "bucket" | "queue";
  name: string;
  /** The jurisdiction that its data stays in, which cannot be changed afterwards. */
  jurisdiction: string | undefined;
};

/** `id` is Cloudflare's id of the resource; undefined when none of this name exists. */
export type Found = { resource: Resource; id: string | undefined };

const databases = z.array(z.looseObject({ name: z.string(), uuid: z.string() }));
const queueList = z.array(z.looseObject({ queue_name: z.string(), queue_id: z.string() }));
const consumerList = z.array(z.looseObject({ consumer_id: z.string() }));

function resourcesOf(config: InstallationConfig): Resource[] {
  const jurisdiction = config.vars["JURISDICTION"] || undefined;
  const queues = new Set(
    [...config.queues.producers, ...config.queues.consumers].map(({ queue }) => queue),
  );
  return [
    ...config.d1_databases.map(({ database_name: name }) => ({
      kind: "database" as const,
      name,
      jurisdiction: typeof jurisdiction === "string" ? jurisdiction : undefined,
    })),
    ...config.r2_buckets.map(({ bucket_name: name, jurisdiction: own }) => ({
      kind: "bucket" as const,
      name,
      jurisdiction: own,
    })),
    ...[...queues].map((name) => ({ kind: "queue" as const, name, jurisdiction: undefined })),
  ];
}

/** Looks up each resource of an installation in the account. */
export function findResources(api: CloudflareApi, config: InstallationConfig): Promise<Found[]> {
  return Promise.all(
    resourcesOf(config).map(async (resource) => ({ resource, id: await idOf(api, resource) })),
  );
}

async function idOf(api: CloudflareApi, resource: Resource): Promise<string | undefined> {
  const { kind, name } = resource;
  const query = `?name=${encodeURIComponent(name)}`;
  if (kind === "bucket") {
    const found = await api.find(`/r2/buckets/${name}`, { headers: jurisdictionHeader(resource) });
    return found === undefined ? undefined : name;
  }
  if (kind === "database") {
    const found = databases.parse(await api.request("GET", `/d1/database${query}`));
    return found.find((database) => database.name === name)?.uuid;
  }
  const found = queueList.parse(await api.request("GET", `/queues${query}`));
  return found.find(({ queue_name }) => queue_name === name)?.queue_id;
}

export async function createResource(api: CloudflareApi, resource: Resource): Promise<void> {
  const { kind, name, jurisdiction } = resource;
  if (kind === "bucket") {
    const headers = jurisdictionHeader(resource);
    await api.request("POST", "/r2/buckets", { body: { name }, headers });
  } else if (kind === "database") {
    const where = jurisdiction === undefined ? {} : { jurisdiction };
    await api.request("POST", "/d1/database", { body: { name, ...where } });
  } else {
    await api.request("POST", "/queues", { body: { queue_name: name } });
  }
}

export async function deleteResource(
  api: CloudflareApi,
  resource: Resource,
  id: string,
): Promise<void> {
  if (resource.kind === "bucket") {
    await api.request("DELETE", `/r2/buckets/${id}`, { headers: jurisdictionHeader(resource) });
  } else if (resource.kind === "database") {
    await api.request("DELETE", `/d1/database/${id}`);
  } else {
    await endDeliveries(api, id);
    await api.request("DELETE", `/queues/${id}`);
  }
}

/** Removes a queue's consumers, because Cloudflare does not remove a queue that has any. */
async function endDeliveries(api: CloudflareApi, queueId: string): Promise<void> {
  const consumers = consumerList.parse(await api.request("GET", `/queues/${queueId}/consumers`));
  for (const { consumer_id } of consumers) {
    await api.request("DELETE", `/queues/${queueId}/consumers/${consumer_id}`);
  }
}

/** Returns the header by which Cloudflare finds a bucket in its jurisdiction. */
export function jurisdictionHeader({ jurisdiction }: Resource): Record<string, string> {
  return jurisdiction === undefined ? {} : { "cf-r2-jurisdiction": jurisdiction };
}
