import { z } from "@hono/zod-openapi";
import {
  DEPLOYMENT_STATUSES,
  type DeploymentSource,
  SOURCES,
} from "../../db/deployments-schema.ts";
import { uuidParam } from "../../http/path-params.ts";
import { booleanParam } from "../../http/query-params.ts";
import { revisionConfigJson } from "./revision-schemas.ts";
import { pageParams, remoteReconciled, uuidsParam } from "./list-params.ts";
import {
  REFUSED_SOURCES,
  refusedConfig,
  refusedMembers,
  refusedRevisionConfig,
} from "./refused-fields.ts";
import { secretChangesSchema, secretsSchema } from "./secrets-schema.ts";

/** The name's slug becomes part of a host name. */
const MAX_NAME_CHARS = 100;
const MAX_DISPLAY_NAME_CHARS = 255;
const MAX_PATH_CHARS = 512;
const MAX_URL_CHARS = 512;
const MAX_REF_CHARS = 255;

/** The API's deployment types. They make no difference here. */
const DEPLOYMENT_TYPES = [
  "dev_free",
  "dev",
  "prod",
  "dev_zero",
  "dev_free_zero",
  "serverless",
] as const;

/** The API's statuses, of which a deployment here only has DEPLOYMENT_STATUSES. */
const STATUSES = [
  ...DEPLOYMENT_STATUSES,
  "AWAITING_DATABASE",
  "AWAITING_FINAL_DELETE",
  "UNUSED",
  "UNKNOWN",
] as const;

const source = z
  .string()
  .transform((text, ctx): DeploymentSource => {
    const found = SOURCES.find((name) => name === text);
    if (found !== undefined) return found;
    const message =
      REFUSED_SOURCES[text] ?? `Input should be ${SOURCES.map((name) => `'${name}'`).join(" or ")}`;
    ctx.addIssue({ code: "custom", message, params: { type: "enum" } });
    return z.NEVER;
  })
  .openapi({ type: "string", enum: [...SOURCES] });

const sourceConfig = z.strictObject({
  deployment_type: z.enum(DEPLOYMENT_TYPES).nullish(),
  template_id: z.string().min(1).max(MAX_NAME_CHARS).nullish(),
  integration_id: uuidParam().nullish(),
  repo_url: z.string().min(1).max(MAX_URL_CHARS).nullish(),
  build_on_push: z.boolean().nullish(),
  previews: z.boolean().nullish(),
  ...refusedConfig,
});

/** The path of a file in the tarball. */
const filePath = z
  .string()
  .max(MAX_PATH_CHARS)
  .regex(/^[^\p{Cc}\p{Cs}\\]*$/u, "String should have no control characters and no backslashes")
  .refine(
    (path) => path.split("/").every((part) => part !== "" && part !== ".."),
    "String should be a path relative to the tarball's root, without empty parts and '..'",
  );

const sourceRevisionConfig = z.strictObject({
  source_tarball_path: z.string().min(1).max(MAX_PATH_CHARS).nullish(),
  langgraph_config_path: filePath.nullish(),
  repo_ref: z
    .string()
    .min(1)
    .max(MAX_REF_CHARS)
    .regex(
      /^(?![-/])(?!.*(?:\.\.|\/\/|@\{))[^\s~^:?*[\\\p{Cc}\p{Cs}]+$/u,
      "String should be a branch, a tag or a commit",
    )
    .nullish(),
  ...refusedRevisionConfig,
});

export type RevisionConfig = z.infer<typeof sourceRevisionConfig>;

export const deploymentCreateSchema = z
  .strictObject({
    name: z
      .string()
      .max(MAX_NAME_CHARS)
      .regex(
        /^[A-Za-z][A-Za-z0-9_-]*$/,
        "String should have only letters, digits, hyphens and underscores, and begin with a letter",
      ),
    source,
    source_config: sourceConfig,
    source_revision_config: sourceRevisionConfig,
    secrets: secretsSchema,
    ...refusedMembers,
  })
  .openapi("DeploymentCreateRequest");

export type DeploymentCreate = z.infer<typeof deploymentCreateSchema>;

const revisionFields = {
  revision_source: source.nullish(),
  source_config: sourceConfig.nullish(),
  source_revision_config: sourceRevisionConfig.nullish(),
  secrets: secretChangesSchema,
  ...refusedMembers,
};

/** Fields that are null or missing keep their values. */
export const deploymentPatchSchema = z
  .strictObject({
    ...revisionFields,
    display_name: z
      .string()
      .min(1)
      .max(MAX_DISPLAY_NAME_CHARS)
      .regex(/^[^\p{Cc}\p{Cs}]*$/u, "String should have no control characters")
      .nullish(),
  })
  .openapi("DeploymentPatchRequest");

export type DeploymentPatch = z.infer<typeof deploymentPatchSchema>;

export const revisionCreateSchema = z.strictObject(revisionFields).openapi("RevisionCreateRequest");

export type RevisionCreate = z.infer<typeof revisionCreateSchema>;

export const deploymentParams = z.object({ deployment_id: uuidParam() });

export const deploymentListQuery = z.strictObject({
  ...pageParams,
  name: z.string().optional(),
  name_contains: z.string().optional(),
  status: z.enum(STATUSES).optional(),
  deployment_type: z.enum(DEPLOYMENT_TYPES).optional(),
  deployment_ids: uuidsParam().optional(),
  preview_of: uuidParam().optional(),
  image_version: z.string().optional(),
  tag_value_ids: uuidsParam().optional(),
  remote_reconciled: remoteReconciled(),
});

export type DeploymentListQuery = z.infer<typeof deploymentListQuery>;

export const deploymentDeleteQuery = z.strictObject({
  delete_tracing_project: booleanParam().optional(),
});

export const deploymentsDeleteQuery = z.strictObject({ deployment_ids: uuidsParam() });

export const deploymentSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    display_name: z.string().nullable(),
    source: z.enum(SOURCES),
    source_config: z.object({
      deployment_type: z.string().nullable(),
      template_id: z.string().nullable(),
      /** The URL of the deployment's agent server. */
      custom_url: z.string(),
      /** The integration that reads the repository, when the deployment has no token of its own. */
      integration_id: z.string().nullable(),
      repo_url: z.string().nullable(),
      build_on_push: z.boolean().nullable(),
      /** Whether pushes to other branches make previews. */
      previews: z.boolean().nullable(),
      /** Set for a preview: the deployment that it belongs to, and its branch. */
      preview_of: z.string().nullable(),
      preview_branch: z.string().nullable(),
      /** The URL for GitHub's webhook, when builds on push or previews are enabled. */
      webhook_url: z.string().nullable(),
      resource_spec: z.null(),
      listener_id: z.null(),
      listener_config: z.null(),
      install_command: z.null(),
      build_command: z.null(),
    }),
    /** The source of the latest revision. */
    source_revision_config: revisionConfigJson,
    /** The names of the secrets; their values are masked. */
    secrets: z.array(z.object({ name: z.string(), value: z.string() })),
    secret_references: z.null(),
    tenant_id: z.string(),
    status: z.enum(DEPLOYMENT_STATUSES),
    latest_revision_id: z.string(),
    active_revision_id: z.string().nullable(),
    image_version: z.null(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .openapi("Deployment");

export type DeploymentJson = z.infer<typeof deploymentSchema>;

export const deploymentListSchema = z
  .object({ resources: z.array(deploymentSchema), offset: z.number().int() })
  .openapi("DeploymentsList");

export const deploymentsDeletedSchema = z
  .object({
    deleted: z.array(z.string()),
    failed: z.array(z.object({ deployment_id: z.string(), detail: z.string() })),
  })
  .openapi("DeploymentsDeleted");
