import { createTarDecoder } from "modern-tar";
import { BYTES_PER_MB } from "../../src/lib/bytes.ts";
import {
  MAX_ARCHIVE_UNPACKED_BYTES,
  MAX_REPOSITORY_FILES,
  MAX_REPOSITORY_UNPACKED_BYTES,
} from "../../src/lib/remote-build.ts";
import { CliError } from "../cli-error.ts";
import { files } from "./node-fs.ts";

/** Maximum bytes of a source file. Larger files are not sources, and the bundler could not handle them. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/**
 * Unpacks a repository's archive into the folder `into`. Links, `node_modules`, `.git` and files larger than
 * MAX_FILE_BYTES are left out; the latter are returned in `tooLarge`. Throws a `CliError` when the archive is
 * invalid or too large.
 */
export async function unpackRepository(
  archive: Uint8Array,
  { into, isInFolder }: { into: string; isInFolder: boolean },
): Promise<{ files: number; tooLarge: string[] }> {
  let [count, bytes, seen] = [0, 0, 0];
  const tooLarge: string[] = [];
  try {
    const unpacked = new Blob([new Uint8Array(archive)])
      .stream()
      .pipeThrough(new DecompressionStream("gzip"))
      .pipeThrough(createTarDecoder());
    for await (const { header, body } of unpacked) {
      seen += header.size;
      assertSize(seen, MAX_ARCHIVE_UNPACKED_BYTES);
      const path = header.type === "file" ? pathOf(header.name, isInFolder) : null;
      if (path === null || header.size > MAX_FILE_BYTES) {
        if (path !== null) tooLarge.push(path);
        await body.cancel();
        continue;
      }
      count += 1;
      bytes += header.size;
      if (count > MAX_REPOSITORY_FILES) {
        throw new CliError(`the source has more than ${MAX_REPOSITORY_FILES} files`);
      }
      assertSize(bytes, MAX_REPOSITORY_UNPACKED_BYTES);
      files.write(`${into}/${path}`, new Uint8Array(await new Response(body).arrayBuffer()));
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`the source is not a gzipped tarball: ${(error as Error).message}`);
  }
  if (count === 0) throw new CliError("the source has no files");
  return { files: count, tooLarge };
}

/** Returns the path within the repository; null for a file that is not unpacked. */
function pathOf(name: string, isInFolder: boolean): string | null {
  const segments = name.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (isInFolder) segments.shift();
  const isUnwanted = segments.some((segment) => /^(?:\.\.|node_modules|\.git)$/.test(segment));
  return segments.length === 0 || isUnwanted ? null : segments.join("/");
}

function assertSize(bytes: number, limit: number): void {
  if (bytes <= limit) return;
  throw new CliError(
    `the source has more than ${limit / BYTES_PER_MB} MB of files: build it on your machine, with threadworks deploy --build local`,
  );
}
