import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import type { ExportCompression } from "../../db/bulk-export-schema.ts";
import { snappyCompressor } from "./snappy.ts";

/** `name` is the format's. What `compress` returns is valid until it is called again. */
export type Codec = {
  name: "UNCOMPRESSED" | "GZIP" | "SNAPPY" | "ZSTD";
  compress: (page: Uint8Array) => Uint8Array;
};

const GZIP_LEVEL = 4;
const ZSTD_LEVEL = 1;

/** For one file. */
export function openCodec(compression: ExportCompression): Codec {
  switch (compression) {
    case "none":
      return { name: "UNCOMPRESSED", compress: (page) => page };
    case "gzip":
      return { name: "GZIP", compress: (page) => gzipSync(page, { level: GZIP_LEVEL }) };
    case "snappy":
      return { name: "SNAPPY", compress: snappyCompressor() };
    case "zstandard":
      return {
        name: "ZSTD",
        compress: (page) =>
          zstdCompressSync(page, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }),
      };
    default:
      return compression satisfies never;
  }
}
