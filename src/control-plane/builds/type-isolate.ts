import {
  type ReadSchemas,
  type SchemasAnswer,
  TYPES_TIMEOUT_MS,
  type TypeReaderApi,
  type TypesRequest,
} from "../../lib/remote-types.ts";
import { withTimeout } from "../../lib/with-timeout.ts";
import { COMPATIBILITY_DATE } from "../../revision-host/compatibility-date.ts";
import { type BuildProps, EXCEEDED } from "./build-isolate.ts";
import { readInstalledFile } from "./installed-file.ts";
import { keptSchemas, keepSchemas } from "./kept-schemas.ts";

const CPU_MS = 60_000;
const SUBREQUESTS = 200;

/** The time that a build needs after its schemas have been read, in milliseconds. */
const RESERVE_MS = 30_000;

/**
 * Returns the schemas that a project's types define, from the cache if they were read from the same inputs before.
 * The compiler runs in its own isolate with its own memory, which can get declarations and nothing else. This
 * never rejects: a graph without schemas can still be served, so failures become warnings.
 */
export async function schemasOfTypes(
  env: Env,
  exports: Cloudflare.Exports,
  request: TypesRequest,
  props: BuildProps,
): Promise<SchemasAnswer> {
  try {
    const version = new TextDecoder().decode(await readInstalledFile(env, "types/version.txt"));
    const place = await keptSchemas(env, props.workspaceId, { version, request });
    if (place.known !== null) return { ...place.known, isKept: true };
    const limitMs = Math.min(TYPES_TIMEOUT_MS, props.endsAt - Date.now() - RESERVE_MS);
    const read =
      limitMs <= 0 ? late() : await readInIsolate(env, exports, request, { props, limitMs });
    if (read.isFinal) await keepSchemas(env, place, read.schemas);
    return { ...read.schemas, isKept: false };
  } catch (error) {
    return { ...without(String(error)), isKept: false };
  }
}

/** `isFinal` is true when the same request would give the same result again. */
type Read = { schemas: ReadSchemas; isFinal: boolean };

async function readInIsolate(
  env: Env,
  exports: Cloudflare.Exports,
  request: TypesRequest,
  { props, limitMs }: { props: BuildProps; limitMs: number },
): Promise<Read> {
  const worker = env.LOADER.get(`types/${crypto.randomUUID()}`, async () => {
    const reader = await readInstalledFile(env, "types/type-reader.js");
    return {
      compatibilityDate: COMPATIBILITY_DATE,
      compatibilityFlags: ["nodejs_compat"],
      mainModule: "type-reader.js",
      modules: { "type-reader.js": { js: new TextDecoder().decode(reader) } },
      env: { PACKAGES: exports.BuildPackages({ props }) },
      limits: { cpuMs: CPU_MS, subRequests: SUBREQUESTS },
      globalOutbound: null,
    };
  });
  const reader = worker.getEntrypoint("TypeReader") as unknown as TypeReaderApi;
  try {
    return await withTimeout(
      limitMs,
      reader.read(request).then((schemas) => ({ schemas, isFinal: true })),
      late,
    );
  } catch (error) {
    if (!EXCEEDED.test(String(error))) throw error;
    const problem = "that needs more memory or CPU time than an isolate has";
    return { schemas: without(problem), isFinal: true };
  }
}

function late(): Read {
  return { schemas: without("that takes more time than a build has for it"), isFinal: false };
}

function without(problem: string): ReadSchemas {
  return { schemas: {}, warnings: [`no schemas could be read from the graphs' types: ${problem}`] };
}
