import { constants, gunzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { z } from "zod";
import { MAX_UNPACKED_BYTES } from "../lib/project-manifest.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";

/** The modules of a revision, with their bytes as in its tarball. */
export type BuiltCode = {
  /** The path of the module that exports the class `GraphHost`. */
  main: string;
  modules: Record<string, BuiltModule>;
};

export type BuiltModule = { type: ModuleType; bytes: Uint8Array };

type ModuleType = z.infer<typeof moduleType>;

const moduleType = z.enum(["js", "json", "text", "wasm"]);

const header = z.object({
  main: z.string(),
  modules: z.array(z.tuple([z.string(), moduleType, z.int().min(0)])),
});

/** Format of the code of revisions that were built before it was packed: binary data is base64. */
const unpackedCode = z.object({
  main: z.string(),
  modules: z.record(
    z.string(),
    z.union([
      z.object({ js: z.string() }),
      z.object({ text: z.string() }),
      z.object({ wasm: z.string() }),
      z.object({ json: z.unknown() }),
    ]),
  ),
});

const LENGTH_BYTES = 4;
const OPEN_BRACE = 0x7b;

/** At this level zstd is faster than R2, in writing and in reading; gzip takes more than twice as long for both. */
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 2 } };

/** The first byte of gzip, in which the code of older revisions is compressed. */
const GZIP = 0x1f;

/** Maximum bytes of unpacked code: the maximum content of a tarball, and the names and lengths of its files. */
const MAX_PACKED_BYTES = MAX_UNPACKED_BYTES + 1024 * 1024;

/**
 * Returns the stored form of a revision's code: a length, followed by that many bytes compressed with zstd. They
 * contain the length of a header, the header as JSON, and the modules one after the other in its order. So the
 * code is no larger than its files, whatever they contain. Lengths are 32-bit big-endian integers.
 */
export function packCode({ main, modules }: BuiltCode): Uint8Array {
  const entries = Object.entries(modules);
  const head = {
    main,
    modules: entries.map(([path, { type, bytes }]) => [path, type, bytes.length]),
  };
  const encoded = new TextEncoder().encode(JSON.stringify(head));
  const size = entries.reduce((sum, [, { bytes }]) => sum + bytes.length, 0);
  const packed = new Uint8Array(LENGTH_BYTES + encoded.length + size);
  new DataView(packed.buffer).setUint32(0, encoded.length);
  packed.set(encoded, LENGTH_BYTES);
  let at = LENGTH_BYTES + encoded.length;
  for (const [, { bytes }] of entries) {
    packed.set(bytes, at);
    at += bytes.length;
  }
  const compressed = zstdCompressSync(packed, COMPRESSION);
  const stored = new Uint8Array(LENGTH_BYTES + compressed.length);
  new DataView(stored.buffer).setUint32(0, compressed.length);
  stored.set(compressed, LENGTH_BYTES);
  return stored;
}

/** Reads stored code. Throws if it is larger than code can be, or not valid. */
export async function readCode(object: {
  size: number;
  arrayBuffer: () => Promise<ArrayBuffer>;
}): Promise<BuiltCode> {
  if (object.size > MAX_PACKED_BYTES) {
    throw new RangeError(`it has ${object.size} bytes, and at most ${MAX_PACKED_BYTES} are loaded`);
  }
  const stored = new Uint8Array(await object.arrayBuffer());
  // Compressed code never begins with this byte: as the first byte of a length it would exceed the maximum.
  if (stored[0] === OPEN_BRACE) return readUnpacked(stored);
  const packed = decompress(stored);
  let at = LENGTH_BYTES + new DataView(packed.buffer).getUint32(0);
  const { main, modules } = header.parse(textJson(packed.subarray(LENGTH_BYTES, at)));
  const entries = modules.map(([path, type, length]): [string, BuiltModule] => {
    const bytes = packed.subarray(at, at + length);
    at += length;
    return [path, { type, bytes }];
  });
  if (at !== packed.length)
    throw new RangeError("the lengths of its modules do not match its size");
  return { main, modules: Object.fromEntries(entries) };
}

function decompress(stored: Uint8Array): Uint8Array {
  const limit = { maxOutputLength: MAX_PACKED_BYTES };
  if (stored[0] === GZIP) return new Uint8Array(gunzipSync(stored, limit));
  const compressed = stored.subarray(LENGTH_BYTES);
  if (new DataView(stored.buffer).getUint32(0) !== compressed.length) {
    throw new RangeError("its length does not match its size");
  }
  return new Uint8Array(zstdDecompressSync(compressed, limit));
}

function readUnpacked(stored: Uint8Array): BuiltCode {
  const { main, modules } = unpackedCode.parse(textJson(stored));
  const encoder = new TextEncoder();
  const entries = Object.entries(modules).map(([path, module]): [string, BuiltModule] => {
    if ("js" in module) return [path, { type: "js", bytes: encoder.encode(module.js) }];
    if ("text" in module) return [path, { type: "text", bytes: encoder.encode(module.text) }];
    if ("wasm" in module)
      return [path, { type: "wasm", bytes: Uint8Array.from(Buffer.from(module.wasm, "base64")) }];
    return [path, { type: "json", bytes: encoder.encode(JSON.stringify(module.json)) }];
  });
  return { main, modules: Object.fromEntries(entries) };
}

function textJson(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/**
 * Returns the R2 key of a revision's code. It ends with the revision, so that the keys of a deployment share a
 * prefix.
 */
export function builtCodeKey({ workspaceId, deploymentId, revisionId }: RevisionRef): string {
  return `${builtCodePrefix({ workspaceId, deploymentId })}${revisionId}.json`;
}

/** Returns the R2 key of the main module's source map, which is stored if the tarball has one. */
export function sourceMapKey({ workspaceId, deploymentId, revisionId }: RevisionRef): string {
  return `${builtCodePrefix({ workspaceId, deploymentId })}${revisionId}.map`;
}

export function builtCodePrefix(of: { workspaceId: string; deploymentId: string }): string {
  return `${of.workspaceId}/built/${of.deploymentId}/`;
}
