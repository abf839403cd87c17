import { extname } from "node:path";
import { gunzipSync } from "node:zlib";
import { type ParsedTarEntryWithData, unpackTar } from "modern-tar";
import { MAX_UNPACKED_BYTES, TEXT_FILE_TYPES } from "../../../lib/project-manifest.ts";
import { ProjectFailure } from "./failure.ts";

const MAX_FILES = 1000;
const MAX_PATH_CHARS = 255;
const TYPES = new Set([".js", ".mjs", ".map", ".wasm", ...TEXT_FILE_TYPES]);

/**
 * The files of a gzipped tarball, by path. Throws a `ProjectFailure` for what is no tarball, too large,
 * or has entries that a built project has not: links, devices, paths that lead elsewhere, other types.
 */
export async function unpack(tarball: ArrayBuffer): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const { header, data } of await entriesOf(tarball)) {
    if (header.type === "directory" || header.type === "pax-global-header") continue;
    const path = pathOf(header.name, header.type);
    if (files.has(path)) throw new ProjectFailure(`The tarball has "${path}" twice`);
    if (files.size === MAX_FILES) {
      throw new ProjectFailure(`The tarball has more than ${MAX_FILES} files`);
    }
    files.set(path, data ?? new Uint8Array(0));
  }
  return files;
}

async function entriesOf(tarball: ArrayBuffer): Promise<ParsedTarEntryWithData[]> {
  let archive: Uint8Array;
  try {
    archive = gunzipSync(tarball, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE") {
      throw new ProjectFailure(
        `The tarball is larger than ${MAX_UNPACKED_BYTES} bytes when it is unpacked`,
      );
    }
    throw new ProjectFailure(`The source is no gzipped tarball: ${String(error)}`);
  }
  try {
    return await unpackTar(archive, { strict: true });
  } catch (error) {
    throw new ProjectFailure(`The source is no gzipped tarball: ${String(error)}`);
  }
}

function pathOf(name: string, type: string | undefined): string {
  const path = name.replace(/^(\.\/)+/, "");
  const shown = JSON.stringify(name.slice(0, MAX_PATH_CHARS));
  if (type !== "file" && type !== undefined) {
    throw new ProjectFailure(`The tarball has ${shown}, which is a ${type} and not a file`);
  }
  const isLocal = path
    .split("/")
    .every((segment) => segment !== "" && segment !== "." && segment !== "..");
  if (!isLocal || /[\\:\p{Cc}]/u.test(path) || path.length > MAX_PATH_CHARS) {
    throw new ProjectFailure(`The tarball has ${shown}, which is no path of a file in it`);
  }
  if (!TYPES.has(extname(path).toLowerCase())) {
    throw new ProjectFailure(
      `The tarball has ${shown}: only ${[...TYPES].join(", ")} can be deployed. Build the project with \`threadworks build\``,
    );
  }
  return path;
}
