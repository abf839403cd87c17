import { extname } from "node:path";
import { gunzipSync } from "node:zlib";
import { type ParsedTarEntryWithData, unpackTar } from "modern-tar";
import {
  MANIFEST_FILE,
  MAX_UNPACKED_BYTES,
  type ProjectManifest,
  projectManifest,
  RUNTIME_VERSION,
  TEXT_FILE_TYPES,
} from "../../../lib/project-manifest.ts";
import { jsonOrUndefined } from "../../../lib/json.ts";
import type { BuiltCode, BuiltModule } from "../../../revision-host/built-code.ts";
import { ProjectFailure } from "./project-failure.ts";

const MAX_FILES = 1000;
const MAX_PATH_CHARS = 255;
const TYPES = new Set([".js", ".mjs", ".map", ".wasm", ...TEXT_FILE_TYPES]);

/**
 * Maximum size of all JSON modules of a project. They are parsed in the platform's memory whenever the project is
 * loaded, and take many times their size there. JSON beyond this limit is deployed as text files.
 */
const MAX_JSON_BYTES = 2 * 1024 * 1024;

/**
 * Returns the modules that a built project's tarball is deployed as, and the source map of its main module.
 * `configPath` is a file that the tarball must contain. Throws a `ProjectFailure` that says what is wrong with the
 * tarball.
 */
export async function buildCode(
  tarball: ArrayBuffer,
  configPath: string | null,
): Promise<{ code: BuiltCode; sourceMap: string | null }> {
  const files = await unpack(tarball);
  const { main } = readManifest(files);
  if (configPath !== null && !files.has(configPath)) {
    throw new ProjectFailure(
      `source_revision_config.langgraph_config_path is "${configPath}", but the tarball has no such file`,
    );
  }
  if (!files.has(main) || !isScript(main)) {
    throw new ProjectFailure(`${MANIFEST_FILE} names "${main}" as main, which is not a module`);
  }
  const modules: Record<string, BuiltModule> = {};
  let jsonBytes = 0;
  for (const [path, bytes] of files) {
    if (path === MANIFEST_FILE || path.endsWith(".map")) continue;
    const module = toModule(path, bytes, MAX_JSON_BYTES - jsonBytes);
    if (module.type === "json") jsonBytes += bytes.length;
    modules[path] = module;
  }
  const map = files.get(`${main}.map`);
  const sourceMap = map === undefined ? null : toText(`${main}.map`, map);
  return { code: { main, modules }, sourceMap };
}

/**
 * Returns the files of a gzipped tarball, by path. Throws a `ProjectFailure` when it is not a tarball, is too
 * large, or has entries that a built project never has: links, devices, paths outside of it, other file types.
 */
async function unpack(tarball: ArrayBuffer): Promise<Map<string, Uint8Array>> {
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
    throw new ProjectFailure(`The source is not a gzipped tarball: ${String(error)}`);
  }
  try {
    return await unpackTar(archive, { strict: true });
  } catch (error) {
    throw new ProjectFailure(`The source is not a gzipped tarball: ${String(error)}`);
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
    throw new ProjectFailure(`The tarball has ${shown}, which is not the path of a file in it`);
  }
  if (!TYPES.has(extname(path).toLowerCase())) {
    throw new ProjectFailure(
      `The tarball has ${shown}: only ${[...TYPES].join(", ")} can be deployed. Build the project with \`threadworks build\``,
    );
  }
  return path;
}

function readManifest(files: Map<string, Uint8Array>): ProjectManifest {
  const bytes = files.get(MANIFEST_FILE);
  if (bytes === undefined) {
    throw new ProjectFailure(
      `The tarball has no ${MANIFEST_FILE}: it is not a built project. Build it with \`threadworks build\`, or deploy it with \`threadworks deploy\``,
    );
  }
  const parsed = projectManifest.safeParse(parseJson(MANIFEST_FILE, bytes));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const at = issue?.path.join(".");
    throw new ProjectFailure(
      `${MANIFEST_FILE} is not valid: ${at ? `${at}: ` : ""}${issue?.message}`,
    );
  }
  if (parsed.data.runtime !== RUNTIME_VERSION) {
    throw new ProjectFailure(
      `The project was built for version ${parsed.data.runtime} of the runtime and this platform runs version ${RUNTIME_VERSION}: build it again with the platform's own \`threadworks\``,
    );
  }
  return parsed.data;
}

function toModule(path: string, bytes: Uint8Array, jsonBytesLeft: number): BuiltModule {
  if (path.endsWith(".wasm")) return { type: "wasm", bytes };
  const text = toText(path, bytes);
  if (isScript(path)) return { type: "js", bytes };
  // Some JSON files have comments. They are deployed as text files, not as modules.
  const isModule =
    path.endsWith(".json") && bytes.length <= jsonBytesLeft && jsonOrUndefined(text) !== undefined;
  return { type: isModule ? "json" : "text", bytes };
}

function isScript(path: string): boolean {
  return path.endsWith(".js") || path.endsWith(".mjs");
}

function parseJson(path: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(toText(path, bytes));
  } catch (error) {
    if (error instanceof ProjectFailure) throw error;
    throw new ProjectFailure(`${path} is not valid JSON: ${String(error)}`);
  }
}

function toText(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ProjectFailure(`${path} is not UTF-8 text`);
  }
}
