import { z } from "zod";
import type { ReadSchemas, TypesRequest } from "../../lib/remote-types.ts";

/** Cached schemas of types, by workspace. */
const PREFIX = "packages/schemas/1/";

const readSchemas = z.object({
  schemas: z.record(z.string(), z.record(z.string(), z.record(z.string(), z.unknown()))),
  warnings: z.array(z.string()),
});

/** The cache entry for the schemas of a request. `known` has them when they are cached. */
type Place = { key: string; decidedBy: string; known: ReadSchemas | null };

/**
 * Looks up the schemas that an earlier build of the workspace has read from the same types. As for bundles, a
 * workspace has sixteen keys, and new schemas overwrite the old ones of their key.
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

/**
 * Returns a digest of everything that determines the schemas: the reader's version, the sources, and the installed
 * packages with their folders.
 */
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
