import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { isPortFree, nextFreePort } from "./ports.ts";

/** A bucket of this machine that S3 clients can use: what exports of a local platform go to. */
export type LocalS3 = {
  /** Without the bucket, which follows in the path. */
  endpoint: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
};

export type S3Credentials = Pick<LocalS3, "accessKeyId" | "secretAccessKey">;

/** As wrangler.toml has them. */
export const LOCAL_BUCKET = "threadworks-exports";
export const LOCAL_BUCKET_BINDING = "EXPORTS";
const S3_PATH = "/cdn-cgi/local/r2/s3";

/** Only on loopback: the same port hands out every other bucket without a key. */
export const S3_HOST = "127.0.0.1";

/** Undefined where the variables name none. */
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
 * The port that the state's bucket had before, because destinations keep its endpoint's URL; for a new
 * state the next free one after the Worker's. 0, for any, when the Worker's is any too.
 */
export async function chooseS3Port(portFile: string, workerPort: number): Promise<number> {
  const before = readPort(portFile);
  if (before !== undefined && before !== workerPort && (await isPortFree(S3_HOST, before))) {
    return before;
  }
  return workerPort === 0 ? 0 : nextFreePort(S3_HOST, workerPort + 1);
}

/** Remembers the port; warns where destinations have that of another time. */
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
    `port ${before} of the bucket for exports is in use; the bucket is on ${port} now, where destinations with its old address do not find it`,
  );
}

function readPort(file: string): number | undefined {
  const port = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined;
}
