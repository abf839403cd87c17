import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import type { ExportCompression } from "../../db/bulk-export-schema.ts";
import { compressSnappy } from "./snappy.ts";

/** Compresses one page; `name` is the format's. */
export type Codec = {
  name: "UNCOMPRESSED" | "GZIP" | "SNAPPY" | "ZSTD";
  compress: (page: Uint8Array) => Uint8Array;
};

const GZIP_LEVEL = 4;
const ZSTD_LEVEL = 1;

export const CODECS: Record<ExportCompression, Codec> = {
  none: { name: "UNCOMPRESSED", compress: (page) => page },
  gzip: { name: "GZIP", compress: (page) => gzipSync(page, { level: GZIP_LEVEL }) },
  snappy: { name: "SNAPPY", compress: compressSnappy },
  zstandard: {
    name: "ZSTD",
    compress: (page) =>
      zstdCompressSync(page, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }),
  },
};
