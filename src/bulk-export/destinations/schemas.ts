import { z } from "@hono/zod-openapi";
import { notServed } from "../../http/not-served.ts";
import { uuidParam } from "../../http/path-params.ts";
import { integerParam } from "../../http/query-params.ts";

/** S3 keys have at most 1024 bytes, of which an export uses about 200 after the prefix. */
const MAX_PREFIX_BYTES = 800;
const MAX_PAGE = 1000;

/** Control characters of ASCII and Unicode: objects whose keys contain them cannot be found. */
const CONTROL_CHARACTER = /\p{Cc}/u;

const displayName = z
  .string()
  .min(1)
  .max(255)
  .regex(
    /^[a-zA-Z0-9\-_ ']+$/,
    "String should have only letters, digits, blanks and the characters - _ '",
  );

const bucketName = z
  .string()
  .min(3)
  .max(63)
  .regex(
    /^[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]$/,
    "String should be a bucket's name: letters, digits, dots, hyphens and underscores",
  );

/** The prefix of keys, stored without leading and trailing slashes. */
const prefix = z.string().transform((text, ctx): string => {
  const trimmed = text.replace(/^\/+|\/+$/g, "");
  const message = prefixProblem(trimmed);
  if (message === null) return trimmed;
  ctx.addIssue({ code: "custom", message, params: { type: "value_error" } });
  return z.NEVER;
});

/** The region for which requests are signed; without an endpoint, it is also the bucket's region at AWS. */
const region = z
  .string()
  .max(64)
  .regex(/^[a-zA-Z0-9-]+$/, "String should be a region, such as eu-central-1");

const configFields = {
  bucket_name: bucketName,
  region: region.nullish(),
  endpoint_url: z.string().min(1).max(2048).nullish(),
};

/** Access key ids and session tokens are sent in headers. */
const HEADER_VALUE = /^[\u0021-\u007e]+$/;
const HEADER_VALUE_MESSAGE = "String should be printable ASCII without blanks";

export const credentialsSchema = z
  .strictObject({
    access_key_id: z.string().min(1).max(255).regex(HEADER_VALUE, HEADER_VALUE_MESSAGE),
    secret_access_key: z.string().min(1).max(2048),
    session_token: z.string().min(1).max(2048).regex(HEADER_VALUE, HEADER_VALUE_MESSAGE).nullish(),
  })
  .openapi("BulkExportDestinationCredentials");

export type CredentialsBody = z.infer<typeof credentialsSchema>;

export const destinationCreateSchema = z
  .strictObject({
    destination_type: z.literal("s3").default("s3"),
    display_name: displayName,
    config: z.strictObject({
      ...configFields,
      prefix,
      include_bucket_in_prefix: z.boolean().default(true),
      s3_additional_kwargs: notServed("Additional arguments of S3 requests are not supported"),
      config_kwargs_s3: notServed("Settings of Amazon's Python client are not supported"),
    }),
    credentials: credentialsSchema.nullish(),
    aws_role_arn: notServed("Roles of AWS are not supported: give credentials"),
  })
  .openapi("BulkExportDestinationCreate");

export type DestinationCreate = z.infer<typeof destinationCreateSchema>;

export const destinationUpdateSchema = z
  .strictObject({ credentials: credentialsSchema, display_name: displayName.nullish() })
  .openapi("BulkExportDestinationUpdate");

export type DestinationUpdate = z.infer<typeof destinationUpdateSchema>;

export const destinationSchema = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    destination_type: z.literal("s3"),
    display_name: z.string(),
    config: z.object({
      bucket_name: z.string(),
      prefix: z.string(),
      region: z.string().nullable(),
      endpoint_url: z.string().nullable(),
      include_bucket_in_prefix: z.boolean(),
    }),
    /** Names of the stored credentials' members; empty when the installation's credentials are used. */
    credentials_keys: z.array(z.string()),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi("BulkExportDestination");

export type DestinationJson = z.infer<typeof destinationSchema>;

export const destinationParams = z.object({ destination_id: uuidParam() });

export const destinationListQuery = z.strictObject({
  limit: integerParam({ min: 1, max: MAX_PAGE }).optional(),
  offset: integerParam({ min: 0 }).optional(),
});

function prefixProblem(text: string): string | null {
  if (text === "") return null;
  if (new TextEncoder().encode(text).byteLength > MAX_PREFIX_BYTES) {
    return `Prefix should have at most ${MAX_PREFIX_BYTES} bytes`;
  }
  if (!text.isWellFormed() || CONTROL_CHARACTER.test(text)) {
    return "Prefix should have no control characters and no unpaired surrogates";
  }
  const isOdd = (segment: string): boolean => ["", ".", ".."].includes(segment);
  return text.split("/").some(isOdd)
    ? "Prefix should have no segments that are empty, . or .."
    : null;
}
