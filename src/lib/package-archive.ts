import { zstdCompressSync } from "node:zlib";
import { z } from "zod";

/** A file of a package as it is stored in an archive. */
type ArchivedFile = { path: string; size: number; bytes: Uint8Array; isCompressed: boolean };

const LENGTH_BYTES = 4;

const header = z.array(z.tuple([z.string(), z.int().min(0), z.int().min(0)]));

/**
 * Packs the files of a package into the archive that is cached and passed to builds: the length of a header, the
 * header as JSON, then the files, each compressed by zstd on its own. A file that does not get smaller is stored
 * uncompressed. A build reads few files of a package, so it holds all of them compressed and decompresses only
 * those that it needs.
 */
export function packArchive(files: readonly { path: string; bytes: Uint8Array }[]): Uint8Array {
  const parts = files.map(({ path, bytes }) => ({
    path,
    size: bytes.length,
    stored: compressedOf(bytes) ?? bytes,
  }));
  const head = parts.map(({ path, size, stored }) => [path, size, stored.length]);
  const encoded = new TextEncoder().encode(JSON.stringify(head));
  const total = parts.reduce((sum, { stored }) => sum + stored.length, 0);
  const archive = new Uint8Array(LENGTH_BYTES + encoded.length + total);
  new DataView(archive.buffer).setUint32(0, encoded.length);
  archive.set(encoded, LENGTH_BYTES);
  let at = LENGTH_BYTES + encoded.length;
  for (const { stored } of parts) {
    archive.set(stored, at);
    at += stored.length;
  }
  return archive;
}

/**
 * Returns null for bytes that do not get smaller. For more than some kilobytes of those, workerd's zstd throws
 * "Unexpected end of file".
 */
function compressedOf(bytes: Uint8Array): Uint8Array | null {
  try {
    const compressed = zstdCompressSync(bytes);
    return compressed.length < bytes.length ? compressed : null;
  } catch {
    return null;
  }
}

/** Reads the files of an archive, which stay compressed. Throws for bytes that are not an archive. */
export function readArchive(archive: Uint8Array): ArchivedFile[] {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  let at = LENGTH_BYTES + view.getUint32(0);
  const head = header.parse(
    JSON.parse(new TextDecoder().decode(archive.subarray(LENGTH_BYTES, at))),
  );
  const files = head.map(([path, size, length]): ArchivedFile => {
    const bytes = archive.subarray(at, at + length);
    at += length;
    return { path, size, bytes, isCompressed: length < size };
  });
  if (at !== archive.length) throw new RangeError("the files of a package do not fill its archive");
  return files;
}
