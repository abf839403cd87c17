import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CloudflareApi } from "./cloudflare-api.ts";
import type { Progress } from "../terminal/progress.ts";
import { emptyBucket } from "./empty-bucket.ts";
import { type Installation, writeConfig } from "./installation-config.ts";
import { deleteResource, type Found, findResources } from "./resources.ts";
import { listSecrets } from "./secrets.ts";
import { remember } from "./up-state.ts";
import { wrangler } from "./wrangler.ts";

/**
 * Takes an installation off the network and removes its queues, which hold only reminders of work that the
 * database lists. With `data` everything is removed; the Worker with its objects first, so that nothing
 * writes any more.
 */
export async function down(
  installation: Installation,
  { api, data, progress }: { api: CloudflareApi; data: boolean; progress: Progress },
): Promise<void> {
  const { folder, config } = installation;
  progress.show(`Looking up the resources of ${config.name}`);
  const found = await findResources(api, config);
  const hasWorker = (await listSecrets(api, config.name)) !== undefined;
  if (hasWorker && data) {
    progress.show(`Removing the Worker ${config.name} and its objects`);
    await api.request("DELETE", `/workers/scripts/${config.name}?force=true`);
    progress.line(`Removed the Worker ${config.name} and its objects.`);
  }
  if (hasWorker && !data) await takeOffline(installation, { api, found, progress });
  for (const { resource, id } of found) {
    if (id === undefined || (!data && resource.kind !== "queue")) continue;
    const what = `the ${resource.kind} ${resource.name}`;
    progress.show(`Removing ${what}`);
    if (resource.kind === "bucket") {
      await emptyBucket(api, resource, (count) =>
        progress.show(`Removing ${what}: ${count} objects are gone`),
      );
    }
    await deleteResource(api, resource, id);
    progress.line(`Removed ${what}.`);
  }
  progress.end();
  // The next `up` deploys again. When all data is gone, it also creates a new first workspace and key.
  if (data) rmSync(folder, { recursive: true, force: true });
}

/** Keeps the Worker, because its objects hold the threads and the traces, but disables everything that calls it. */
async function takeOffline(
  installation: Installation,
  { api, found, progress }: { api: CloudflareApi; found: Found[]; progress: Progress },
): Promise<void> {
  const { folder, config } = installation;
  const databaseId = found.find(({ resource }) => resource.kind === "database")?.id;
  if (databaseId === undefined || !existsSync(join(folder, "worker/worker.js"))) {
    progress.warn(`${config.name} stays on the network: npx threadworks up has not been run here`);
    return;
  }
  progress.show(`Taking ${config.name} off the network`);
  // The next `up` has to deploy again, even if this process ends before it is done.
  remember(folder, { deployed: "" });
  writeConfig(installation, { databaseId, online: false });
  const env = { CLOUDFLARE_ACCOUNT_ID: api.accountId };
  await wrangler(["deploy"], { cwd: folder, env });
  progress.line(`Took ${config.name} off the network; npx threadworks up brings it back.`);
}
