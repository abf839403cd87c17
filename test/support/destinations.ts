import type { S3Server } from "./s3-server.ts";

/** Returns the body that creates a destination for the bucket of an S3 server. */
export function destinationBody(
  s3: Pick<S3Server, "url" | "bucket" | "accessKeyId" | "secretAccessKey">,
  change: { config?: object; credentials?: object | null; display_name?: string } = {},
) {
  return {
    destination_type: "s3",
    display_name: change.display_name ?? "Our exports",
    config: { bucket_name: s3.bucket, prefix: "traces", endpoint_url: s3.url, ...change.config },
    credentials:
      change.credentials === null
        ? null
        : {
            access_key_id: s3.accessKeyId,
            secret_access_key: s3.secretAccessKey,
            ...change.credentials,
          },
  };
}
