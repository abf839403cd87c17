import { z } from "zod";
import type { ReadSchemas, TypesRequest } from "../../lib/remote-types.ts";

/** Schemas of types, by workspace. */
const PREFIX = "packages/schemas/1/";

const readSchemas = z.object({
  schemas: z.record(z.string(), z.record(z.string(), z.record(z.string(), z.unknown()))),
  warnings: z.array(z.string()),
});

/** Where schemas are kept that are read from this, and those that are there. */
type Place = { key: string; decidedBy: string; known: ReadSchemas | null };

/**
 * Finds what an earlier build of the workspace has read from the same types. As for bundles, there are sixteen places, and
 * what comes to one takes the place of what was there.
 */
export async function keptSchemas(
  env: Env,
  workspaceId: string,
  from: { version: string; request: TypesRequest },
): Promise<Place> {
  const decidedBy = await digestOf(from);
  const key = `${PREFIX}${workspaceId}/${decidedBy.slice(0, 1)}`;
  const kept = await env.SOURCES.get(key);
  if (kept?.customMetadata?.["decidedBy"] !== decidedBy) {
    await kept?.body.cancel();
    return { key, decidedBy, known: null };
  }
  const { data = null } = readSchemas.safeParse(await kept.json().catch(() => null));
  return { key, decidedBy, known: data };
}

export async function keepSchemas(
  env: Env,
  { key, decidedBy }: Place,
  schemas: ReadSchemas,
): Promise<void> {
  await env.SOURCES.put(key, JSON.stringify(schemas), { customMetadata: { decidedBy } });
}

/** Of all that decides what is read: who reads, the sources, and what is installed where. */
async function digestOf({
  version,
  request: { sources, packages, ...request },
}: {
  version: string;
  request: TypesRequest;
}): Promise<string> {
  const installed = packages.map(({ folder, locked }) => [folder, locked]);
  const decides = JSON.stringify([version, request, installed]);
  const bytes = await new Blob([decides, "\0", new Uint8Array(sources)]).arrayBuffer();
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
}
