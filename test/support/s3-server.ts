import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import S3rver from "s3rver";

const BUCKET = "exports";

/** The only account that the server has. */
const ACCOUNT = "S3RVER";

const OBJECT_SUFFIX = "._S3rver_object";

export type S3Server = {
  /** Base URL, without a trailing slash. */
  url: string;
  /** The only bucket at the start. */
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Returns the sorted keys of the bucket's objects. */
  list: (prefix?: string) => Promise<string[]>;
  read: (key: string) => Promise<Buffer>;
  close: () => Promise<void>;
};

/**
 * Starts a third-party S3 server on any free port, with one empty bucket. It knows its account's key, but checks no
 * signatures.
 */
export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), "threadworks-s3-"));
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET }],
  });
  const { port } = await server.run();
  const root = join(directory, BUCKET);
  return {
    url: `http://127.0.0.1:${port}`,
    bucket: BUCKET,
    accessKeyId: ACCOUNT,
    secretAccessKey: ACCOUNT,
    list: async (prefix = "") => {
      const entries = await readdir(root, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && entry.name.endsWith(OBJECT_SUFFIX))
        .map((entry) => relative(root, join(entry.parentPath, entry.name)))
        .map((path) => path.slice(0, -OBJECT_SUFFIX.length))
        .filter((key) => key.startsWith(prefix))
        .toSorted();
    },
    read: (key) => readFile(join(root, `${key}${OBJECT_SUFFIX}`)),
    close: async () => {
      server.httpServer.closeAllConnections();
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
