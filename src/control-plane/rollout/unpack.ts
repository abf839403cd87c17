import { createTarDecoder } from "modern-tar";
import { concatBytes } from "../../lib/bytes.ts";
import { MAX_UNPACKED_BYTES } from "../../lib/project-manifest.ts";
import { ProjectFailure } from "./failure.ts";

const MAX_FILES = 1000;
const MAX_PATH_CHARS = 255;
const TYPES = [".js", ".mjs", ".json", ".txt", ".wasm"];

/**
 * The files of a gzipped tarball, by path. Throws a `ProjectFailure` for what is no tarball, too large,
 * or has entries that a built project has not: links, devices, paths that lead elsewhere, other types.
 */
export async function unpack(tarball: ArrayBuffer): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  try {
    const entries = new Blob([tarball])
      .stream()
      .pipeThrough(new DecompressionStream("gzip"))
      .pipeThrough(limited(MAX_UNPACKED_BYTES))
      .pipeThrough(createTarDecoder({ strict: true }));
    for await (const { header, body } of entries) {
      if (header.type === "directory" || header.type === "pax-global-header") {
        await body.cancel();
        continue;
      }
      const path = pathOf(header.name, header.type);
      if (files.has(path)) throw new ProjectFailure(`The tarball has "${path}" twice`);
      if (files.size === MAX_FILES) {
        throw new ProjectFailure(`The tarball has more than ${MAX_FILES} files`);
      }
      files.set(path, await bytesOf(body));
    }
  } catch (error) {
    if (error instanceof ProjectFailure) throw error;
    throw new ProjectFailure(`The source is no gzipped tarball: ${String(error)}`);
  }
  return files;
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
  // oxlint-disable-next-line no-control-regex -- what no path needs
  if (!isLocal || /[\\:\u0000-\u001f]/.test(path) || path.length > MAX_PATH_CHARS) {
    throw new ProjectFailure(`The tarball has ${shown}, which is no path of a file in it`);
  }
  if (!TYPES.some((ending) => path.endsWith(ending))) {
    throw new ProjectFailure(
      `The tarball has ${shown}: only ${TYPES.join(", ")} can be deployed. Build the project with \`threadworks build\``,
    );
  }
  return path;
}

function limited(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size <= maxBytes) controller.enqueue(chunk);
      else {
        controller.error(
          new ProjectFailure(`The tarball is larger than ${maxBytes} bytes when it is unpacked`),
        );
      }
    },
  });
}

async function bytesOf(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return concatBytes(chunks);
}
