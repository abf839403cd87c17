import {
  BUILD_LOCALLY,
  BUILD_TIMEOUT_MS,
  type BuildAnswer,
  type BuildLine,
  type BuildRequest,
  type LargestPackage,
  largestOf,
  type RemoteBuilderApi,
} from "../../lib/remote-build.ts";
import { withTimeout } from "../../lib/with-timeout.ts";
import { COMPATIBILITY_DATE } from "../../revision-host/compatibility-date.ts";
import { readInstalledFile } from "./installed-file.ts";

/** CPU time limit of a build. Bundling takes most of it, while WebAssembly is still being compiled. */
const CPU_MS = 120_000;
const SUBREQUESTS = 5000;

/**
 * Matches the errors of an isolate that exceeded a limit: from Cloudflare, from V8 when WebAssembly's memory
 * cannot grow, and from Go, which words the error differently for large allocations.
 */
export const EXCEEDED =
  /exceeded .*(?:memory|CPU)|out of memory|cannot allocate memory|memory limit|memory size exceeded/i;

/** The properties of the package source of a build: the time when the build ends, and its workspace. */
export type BuildProps = { endsAt: number; workspaceId: string };

type Building = {
  /** The workspace of the build. What the build caches is available to no other workspace. */
  workspaceId: string;
  /** Receives log lines while the build runs. */
  tell: (lines: readonly BuildLine[]) => Promise<void>;
  limitMs?: number;
};

/**
 * Builds a project in an isolate made for this build alone. The isolate has no network: it gets packages from
 * `BuildPackages`, and nothing else. Throws when the build was interrupted by a failure that may pass with time.
 */
export async function buildInIsolate(
  env: Env,
  exports: Cloudflare.Exports,
  request: BuildRequest,
  { workspaceId, tell, limitMs = BUILD_TIMEOUT_MS }: Building,
): Promise<BuildAnswer> {
  const endsAt = Date.now() + limitMs;
  let isOver = false;
  let largest: LargestPackage | undefined;
  const tellUntilOver = async (lines: BuildLine[]): Promise<void> => {
    if (isOver) throw new Error("The build has been given up");
    largest ??= lines.find((line) => line.largest !== undefined)?.largest;
    await tell(lines);
  };
  try {
    const packages = exports.BuildPackages({ props: { endsAt, workspaceId } });
    const ask = async (): Promise<BuildAnswer> => {
      for (const hasUiBundler of [false, true]) {
        const builder = startBuilder(env, packages, { hasUiBundler });
        const answer = await builder.build(request, tellUntilOver);
        if (!("needs" in answer)) return answer;
      }
      throw new Error("The builder requests the UI bundler that it already has");
    };
    return await withTimeout(limitMs, ask(), () =>
      tooMuch(`The build took longer than ${limitMs / 1000} seconds`, largest),
    );
  } catch (error) {
    if (!EXCEEDED.test(String(error))) throw error;
    return tooMuch("The build needs more memory or CPU time than an isolate has", largest);
  } finally {
    isOver = true;
  }
}

/**
 * Starts an isolate for one build. Few projects have UI components, so others are built without the megabyte of
 * code for bundling them.
 */
function startBuilder(
  env: Env,
  packages: unknown,
  { hasUiBundler }: { hasUiBundler: boolean },
): RemoteBuilderApi {
  const worker = env.LOADER.get(`build/${crypto.randomUUID()}`, async () => {
    const names = ["builder.js", "shared.js", ...(hasUiBundler ? ["ui-bundler.js"] : [])];
    const [esbuild, graphHost, version, ...modules] = await Promise.all(
      ["esbuild.wasm", "graph-host.js", "version.txt", ...names].map((name) =>
        readInstalledFile(env, `builder/${name}`),
      ),
    );
    return {
      compatibilityDate: COMPATIBILITY_DATE,
      compatibilityFlags: ["nodejs_compat"],
      mainModule: "builder.js",
      modules: {
        ...Object.fromEntries(names.map((name, index) => [name, { js: text(modules[index]) }])),
        "graph-host.js": { text: text(graphHost) },
        "esbuild.wasm": { wasm: esbuild ?? new ArrayBuffer() },
      },
      env: { PACKAGES: packages, VERSION: text(version), HAS_UI_BUNDLER: hasUiBundler },
      limits: { cpuMs: CPU_MS, subRequests: SUBREQUESTS },
      globalOutbound: null,
    };
  });
  return worker.getEntrypoint("RemoteBuilder") as unknown as RemoteBuilderApi;
}

/**
 * Returns the failure of a build that exceeded a limit. It is final, because another attempt would exceed it
 * again.
 */
function tooMuch(what: string, largest: LargestPackage | undefined): BuildAnswer {
  const hint = largest === undefined ? "" : `, and ${largestOf(largest)}`;
  return { ok: false, message: `${what}${hint}: ${BUILD_LOCALLY}` };
}

function text(bytes: ArrayBuffer | undefined): string {
  return new TextDecoder().decode(bytes);
}
