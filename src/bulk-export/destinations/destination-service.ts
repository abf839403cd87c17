import { v7 as uuid } from "uuid";
import {
  deleteExportDestination,
  type ExportCredentialsRow,
  type ExportDestinationRow,
  insertExportDestination,
  type ListedDestination,
  replaceExportCredentials,
  selectListedDestination,
} from "../../db/export-destinations-repo.ts";
import type { Settings } from "../../env.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import { keyVersions, withSecretBox } from "../../secrets/secret-box.ts";
import { AWS_REGION } from "../s3/s3-address.ts";
import { endpointRefusal } from "../../lib/endpoint-address.ts";
import { S3Bucket, type S3Credentials } from "../s3/s3-bucket.ts";
import { checkDestination } from "./check-destination.ts";
import {
  credentialNames,
  type CredentialsKey,
  sealCredentials,
  toS3Credentials,
} from "./credentials.ts";
import { installationCredentials, locationOf } from "./open-bucket.ts";
import type { CredentialsBody, DestinationCreate, DestinationUpdate } from "./schemas.ts";

type DestinationDeps = { db: D1Database; settings: Settings; workspaceId: string };

/** The client waits for the check, so its requests have a short time-out. */
const CHECK_TIMEOUT_MS = 10_000;
const CHECK_ATTEMPTS = 2;

/** Maximum attempts to replace credentials while other requests change the same destination. */
const REPLACE_ATTEMPTS = 5;

/** Stores a destination after a test file was written to it. */
export async function createDestination(
  deps: DestinationDeps,
  body: DestinationCreate,
): Promise<ListedDestination> {
  const { db, settings, workspaceId } = deps;
  checkConfig(body.config, settings);
  const { credentials: given } = body;
  const credentials = given == null ? installationCredentials(settings) : toS3Credentials(given);
  if (credentials === null)
    throw invalidField(["body", "credentials"], "Field required", "missing");
  const now = Date.now();
  const row: ExportDestinationRow = {
    id: uuid(),
    workspace_id: workspaceId,
    display_name: body.display_name,
    bucket_name: body.config.bucket_name,
    prefix: body.config.prefix,
    region: body.config.region ?? null,
    endpoint_url: body.config.endpoint_url ?? null,
    include_bucket_in_prefix: body.config.include_bucket_in_prefix,
    credentials_version: given == null ? null : 1,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  };
  const sealed = given == null ? null : await sealedRow(deps, row, given, 1);
  await requireWriteAccess(row, credentials, settings);
  await insertExportDestination(db, row, sealed);
  return { destination: row, names: sealed?.names ?? null };
}

/** Stores new credentials after a test file was written with them. Running export attempts keep the old ones. */
export async function rotateCredentials(
  deps: DestinationDeps,
  id: string,
  body: DestinationUpdate,
): Promise<ListedDestination> {
  const found = (await requireDestination(deps, id)).destination;
  await keyVersionFor(deps);
  await requireWriteAccess(found, toS3Credentials(body.credentials), deps.settings);
  for (let attempt = 1; attempt <= REPLACE_ATTEMPTS; attempt += 1) {
    const { destination } = await requireDestination(deps, id);
    const { credentials_version: from } = destination;
    const sealed = await sealedRow(deps, destination, body.credentials, (from ?? 0) + 1);
    const displayName = body.display_name ?? undefined;
    const change = { from, displayName, now: Date.now() };
    const replaced = await replaceExportCredentials(deps.db, sealed, change);
    if (replaced !== undefined) return { destination: replaced, names: sealed.names };
  }
  throw new ApiError("conflict", "The destination was changed by other requests, try again");
}

export async function requireDestination(
  deps: DestinationDeps,
  id: string,
): Promise<ListedDestination> {
  const found = await selectListedDestination(deps.db, deps.workspaceId, id);
  if (found === undefined) throw destinationNotFound();
  return found;
}

export async function removeDestination(deps: DestinationDeps, id: string): Promise<void> {
  const { db, workspaceId } = deps;
  const outcome = await deleteExportDestination(db, workspaceId, id, Date.now());
  if (outcome === "not_found") throw destinationNotFound();
  if (outcome === "in_use") {
    throw new ApiError("conflict", "Exports that have not ended use the destination: cancel them");
  }
}

function checkConfig(config: DestinationCreate["config"], settings: Settings): void {
  const loc = ["body", "config"];
  const { region, endpoint_url: endpointUrl } = config;
  if (endpointUrl == null) {
    if (region == null) {
      const message = "Give the bucket's region at AWS, or endpoint_url of another storage";
      throw invalidField([...loc, "region"], message, "missing");
    }
    if (!AWS_REGION.test(region)) {
      const message = "Input should be an AWS region, such as eu-central-1";
      throw invalidField([...loc, "region"], message, "value_error");
    }
    return;
  }
  const refusal = endpointRefusal(endpointUrl, { allowPrivate: settings.privateEndpoints });
  if (refusal !== null) {
    throw invalidField([...loc, "endpoint_url"], `Input ${refusal}`, "value_error");
  }
}

async function requireWriteAccess(
  row: ExportDestinationRow,
  credentials: S3Credentials,
  settings: Settings,
): Promise<void> {
  const bucket = new S3Bucket(locationOf(row), credentials, {
    requestTimeoutMs: CHECK_TIMEOUT_MS,
    attempts: CHECK_ATTEMPTS,
    allowPrivate: settings.privateEndpoints,
  });
  const problem = await checkDestination(bucket, row.prefix);
  if (problem === null) return;
  throw new ApiError("bad_request", `Failed to validate S3 destination: ${problem}`);
}

async function sealedRow(
  deps: DestinationDeps,
  row: ExportDestinationRow,
  body: CredentialsBody,
  version: number,
): Promise<ExportCredentialsRow> {
  const { workspace_id: workspaceId, id: destinationId } = row;
  const key: CredentialsKey = { workspaceId, destinationId, version };
  return {
    workspace_id: workspaceId,
    destination_id: destinationId,
    version,
    key_version: await keyVersionFor(deps),
    sealed: await sealCredentials(deps.settings.encryptionKeys, body, key),
    names: JSON.stringify(credentialNames(body)),
    created_at: Date.now(),
  };
}

/** Returns the version of the encrypting key. Throws a 503 without a key. */
function keyVersionFor({ settings }: DestinationDeps): Promise<number> {
  return withSecretBox(
    "Credentials cannot be stored",
    () => keyVersions(settings.encryptionKeys)[0],
  );
}

function destinationNotFound(): ApiError {
  return new ApiError("not_found", "Destination not found");
}
