import {
  MANIFEST_FILE,
  type ProjectManifest,
  projectManifest,
  RUNTIME_VERSION,
} from "../../../lib/project-manifest.ts";
import type { BuiltCode, BuiltModule } from "../../../revision-host/built-code.ts";
import { ProjectFailure } from "./failure.ts";
import { unpack } from "./unpack.ts";

/**
 * Of all JSON modules of a project, which are parsed in the platform's memory whenever it is loaded, and
 * take many times their size there. What is beyond it can be read as a file.
 */
const MAX_JSON_BYTES = 2 * 1024 * 1024;

/**
 * What a tarball of a built project is deployed as, and the source map of its main module. Throws a `ProjectFailure` that says what is wrong
 * with it; `configPath` is a file that has to be in there.
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
    throw new ProjectFailure(`${MANIFEST_FILE} names "${main}" as main, which is no module`);
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
  // What others call JSON may have comments: it is a file to be read then, and no module.
  const isModule = path.endsWith(".json") && bytes.length <= jsonBytesLeft && isJson(text);
  return { type: isModule ? "json" : "text", bytes };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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
