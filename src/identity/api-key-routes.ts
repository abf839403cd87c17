import { createRoute, z } from "@hono/zod-openapi";
import { type ApiKeyRow, insertApiKey, listApiKeys, revokeApiKey } from "../db/workspaces-repo.ts";
import { notServed } from "../http/not-served.ts";
import { uuidParam } from "../http/path-params.ts";
import { createRouter } from "../http/router.ts";
import { toIso } from "../lib/time.ts";
import { requireKey } from "./authenticate.ts";
import { v7 as uuidv7 } from "uuid";
import { ApiError } from "../lib/api-error.ts";
import type { KeyIdentity } from "../lib/principal.ts";
import type { Region } from "../lib/region.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { apiKeyPrefix, generateApiKey } from "./api-key.ts";

/**
 * Routes for the API keys of a workspace. A revoked key can still read elsewhere for some seconds, but not here,
 * where it could create its own successor.
 */
export const apiKeyRoutes = createRouter();

const MAX_DESCRIPTION_CHARS = 255;

const tags = ["Workspaces"];

const listedKey = {
  id: z.uuid(),
  short_key: z
    .string()
    .openapi({ description: "The first characters of the key, to tell keys apart" }),
  description: z.string(),
  read_only: z.literal(false),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable().openapi({ description: "To the minute" }),
  expires_at: z.null().openapi({ description: "Always null: a key is valid until it is revoked" }),
};

const keySchema = z.object(listedKey).openapi("APIKeyGetResponse");
const createdKeySchema = z
  .object({
    ...listedKey,
    key: z
      .string()
      .openapi({ description: "The text of the key, which only this response contains" }),
  })
  .openapi("APIKeyCreateResponse");

const ROLES = "Keys have no roles: every key has all permissions of its workspace";

const createSchema = z
  .strictObject({
    description: z.string().min(1).max(MAX_DESCRIPTION_CHARS).default("Default API key"),
    read_only: z.literal(false, ROLES).optional(),
    expires_at: notServed("Keys do not expire: revoke a key that is no longer needed"),
    workspaces: notServed("A key belongs to the workspace of the key that creates it"),
    default_workspace_id: notServed("A key belongs to the workspace of the key that creates it"),
    role_id: notServed(ROLES),
    org_role_id: notServed(ROLES),
  })
  .openapi("APIKeyCreateRequest");

apiKeyRoutes.openapi(
  createRoute({
    method: "get",
    path: "/api-key",
    tags,
    summary: "List the workspace's API keys, the oldest first",
    responses: {
      200: {
        description: "The keys that were not revoked, without their texts",
        content: { "application/json": { schema: z.array(keySchema) } },
      },
    },
  }),
  async (c) => {
    const { workspace_id } = await requireKey(c, "current");
    const keys = await findApiKeys(c.env.DB, workspace_id);
    return c.json(keys.map(toKeyJson), 200);
  },
);

apiKeyRoutes.openapi(
  createRoute({
    method: "post",
    path: "/api-key",
    tags,
    summary: "Create an API key of the workspace",
    request: {
      body: { required: true, content: { "application/json": { schema: createSchema } } },
    },
    responses: {
      200: {
        description: "The key, with its text",
        content: { "application/json": { schema: createdKeySchema } },
      },
    },
  }),
  async (c) => {
    const { workspace_id: workspaceId } = await requireKey(c, "current");
    const { description: name } = c.req.valid("json");
    const { region } = c.var.settings;
    const { row, key } = await createApiKey(c.env.DB, { workspaceId, name, region });
    c.header("cache-control", "no-store");
    return c.json({ ...toKeyJson(row), key }, 200);
  },
);

apiKeyRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/api-key/{api_key_id}",
    tags,
    summary: "Revoke another API key of the workspace",
    request: { params: z.object({ api_key_id: uuidParam() }) },
    responses: {
      200: {
        description: "The revoked key",
        content: { "application/json": { schema: keySchema } },
      },
    },
  }),
  async (c) => {
    const asking = await requireKey(c, "current");
    const row = await removeApiKey(c.env.DB, asking, c.req.valid("param").api_key_id);
    return c.json(toKeyJson(row), 200);
  },
);

function toKeyJson({ id, name, prefix, created_at, last_used_at }: ApiKeyRow) {
  return {
    id,
    short_key: `${prefix}...`,
    description: name,
    read_only: false as const,
    created_at: toIso(created_at),
    last_used_at: last_used_at === null ? null : toIso(last_used_at),
    expires_at: null,
  };
}

/** Maximum keys that a workspace can create by the API. An administrator's tool can create more. */
const MAX_KEYS = 100;

/** Maximum keys in the list. It is above MAX_KEYS, because keys made by the tool are listed, too. */
const MAX_LISTED = 1000;

async function findApiKeys(db: D1Database, workspaceId: string): Promise<ApiKeyRow[]> {
  return listApiKeys(db, workspaceId, MAX_LISTED);
}

/** Creates a key. Its text is only in the returned value; only its hash is stored. */
async function createApiKey(
  db: D1Database,
  of: { workspaceId: string; name: string; region: Region },
): Promise<{ row: ApiKeyRow; key: string }> {
  const { workspaceId, name, region } = of;
  const key = generateApiKey(region);
  const stored = {
    id: uuidv7(),
    workspace_id: workspaceId,
    name,
    prefix: apiKeyPrefix(key),
    created_at: Date.now(),
  };
  if (!(await insertApiKey(db, { ...stored, hash: await sha256Hex(key) }, MAX_KEYS))) {
    throw new ApiError("conflict", `A workspace can have ${MAX_KEYS} API keys: revoke one first`);
  }
  return { row: { ...stored, last_used_at: null, revoked_at: null }, key };
}

/** Revokes a key. A key cannot revoke itself, so a workspace cannot revoke its last key. */
async function removeApiKey(db: D1Database, asking: KeyIdentity, id: string): Promise<ApiKeyRow> {
  if (id === asking.key_id) {
    throw new ApiError("conflict", "A key cannot revoke itself: revoke it with another key");
  }
  const row = await revokeApiKey(db, { workspaceId: asking.workspace_id, id, now: Date.now() });
  if (row === undefined) throw new ApiError("not_found", `API key ${id} not found`);
  return row;
}
