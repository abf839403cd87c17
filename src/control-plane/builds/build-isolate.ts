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

/** Bundling takes most of it, on WebAssembly that is being compiled. */
const CPU_MS = 120_000;
const SUBREQUESTS = 5000;

/**
 * What is said of an isolate that took more than it may: by Cloudflare, by V8 when WebAssembly's memory cannot grow, and
 * by Go when it has none left, in other words for large pieces.
 */
export const EXCEEDED =
  /exceeded .*(?:memory|CPU)|out of memory|cannot allocate memory|memory limit|memory size exceeded/i;

/** What the packages of a build are given to: it ends, and is of a workspace. */
export type BuildProps = { endsAt: number; workspaceId: string };

type Building = {
  /** Whose build it is: what is kept of it is given to no other workspace. */
  workspaceId: string;
  /** Receives what the build tells while it goes on. */
  tell: (lines: readonly BuildLine[]) => Promise<void>;
  limitMs?: number;
};

/**
 * Builds a project in an isolate that is made for this build alone. It has no network: it asks `BuildPackages` for
 * packages, and for nothing else. Throws where the build did not end, which time may mend.
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
      throw new Error("The builder asks for what it has");
    };
    return await withTimeout(limitMs, ask(), () =>
      tooMuch(`The build took longer than ${limitMs / 1000} seconds`, largest),
    );
  } catch (error) {
    if (!EXCEEDED.test(String(error))) throw error;
    return tooMuch(
      "The build needs more memory or time of a processor than an isolate has",
      largest,
    );
  } finally {
    isOver = true;
  }
}

/** An isolate of its own. Few projects have components, so the others are built without a megabyte of code about them. */
function startBuilder(
  env: Env,
  packages: unknown,
  { hasUiBundler }: { hasUiBundler: boolean },
): RemoteBuilderApi {
  const worker = env.LOADER.get(`build/${crypto.randomUUID()}`, async () => {
    const names = ["builder.js", "shared.js", ...(hasUiBundler ? ["ui-bundler.js"] : [])];
    const [esbuild, graphHost, version, ...modules] = await Promise.all(
      ["esbuild.wasm", "graph-host.js", "version.txt", ...names].map((name) =>
        readBuilderFile(env, `builder/${name}`),
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

/** What the platform has nothing to set against: it would be the same the next time. */
function tooMuch(what: string, largest: LargestPackage | undefined): BuildAnswer {
  const hint = largest === undefined ? "" : `, and ${largestOf(largest)}`;
  return { ok: false, message: `${what}${hint}: ${BUILD_LOCALLY}` };
}

/** What an isolate is made of, which lies beside the console's files. */
export async function readBuilderFile(env: Env, path: string): Promise<ArrayBuffer> {
  const response = await env.CONSOLE.fetch(new URL(path, "https://console/"));
  if (!response.ok) throw new Error(`The installation has no ${path}: run npm run build`);
  return response.arrayBuffer();
}

function text(bytes: ArrayBuffer | undefined): string {
  return new TextDecoder().decode(bytes);
}
