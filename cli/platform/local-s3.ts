import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { isPortFree, nextFreePort } from "./ports.ts";

/** A bucket on this machine that S3 clients can use, as a destination of a local platform's exports. */
export type LocalS3 = {
  /** The endpoint's URL without the bucket, which follows in the path. */
  endpoint: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
};

export type S3Credentials = Pick<LocalS3, "accessKeyId" | "secretAccessKey">;

/** The bucket's name and binding, as in wrangler.toml. */
export const LOCAL_BUCKET = "threadworks-exports";
export const LOCAL_BUCKET_BINDING = "EXPORTS";
const S3_PATH = "/cdn-cgi/local/r2/s3";

/** The bucket is served on loopback only, because the same port serves every other bucket without a key. */
export const S3_HOST = "127.0.0.1";

/** Returns the credentials in the variables; undefined when there are none. */
export function localS3Credentials(vars: Record<string, unknown>): S3Credentials | undefined {
  const accessKeyId = vars["LOCAL_S3_ACCESS_KEY_ID"];
  const secretAccessKey = vars["LOCAL_S3_SECRET_ACCESS_KEY"];
  if (typeof accessKeyId !== "string" || typeof secretAccessKey !== "string") return undefined;
  if (accessKeyId === "" || secretAccessKey === "") return undefined;
  return { accessKeyId, secretAccessKey };
}

export function localS3(port: number, credentials: S3Credentials): LocalS3 {
  return {
    endpoint: `http://${S3_HOST}:${port}${S3_PATH}`,
    bucket: LOCAL_BUCKET,
    ...credentials,
  };
}

/**
 * Returns the port for the bucket. It is the one that this state used before, because destinations contain
 * its URL; for a new state it is the next free port after the Worker's, or 0 (any) when the Worker's is 0.
 */
export async function chooseS3Port(portFile: string, workerPort: number): Promise<number> {
  const before = readPort(portFile);
  if (before !== undefined && before !== workerPort && (await isPortFree(S3_HOST, before))) {
    return before;
  }
  return workerPort === 0 ? 0 : nextFreePort(S3_HOST, workerPort + 1);
}

/** Stores the port for later starts, and warns when it has changed, since destinations contain the old one. */
export function rememberS3Port(
  portFile: string,
  port: number,
  warn: (message: string) => void,
): void {
  const before = readPort(portFile);
  if (before === port) return;
  writeFileSync(portFile, `${port}\n`);
  if (before === undefined) return;
  warn(
    `port ${before} of the bucket for exports is in use; the bucket is now on port ${port}: update the address of destinations`,
  );
}

function readPort(file: string): number | undefined {
  const port = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined;
}
