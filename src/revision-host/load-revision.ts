import { readRevisionToLoad } from "../db/deployment-lookup-repo.ts";
import { parseSettings } from "../env.ts";
import type { GraphHostApi, HostProps } from "../graph-runtime/protocol.ts";
import { type HostList, parseHostList } from "../lib/host-list.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import { GITHUB_TOKEN, OUTBOUND_HOSTS, PUSH_SECRET } from "../secrets/secret-names.ts";
import { type BuiltCode, builtCodeKey, type BuiltModule, readCode } from "./built-code.ts";
import type { OutboundPolicy } from "./outbound-policy.ts";
import { openSecrets } from "./revision-secrets.ts";
import { COMPATIBILITY_DATE } from "./compatibility-date.ts";

/** The `code` of the error that a call to a graph host throws if the platform could not read the revision's code. */
export const CODE_UNAVAILABLE = "revision_code_unavailable";

/**
 * Number of failed reads of each revision's code in this isolate. The number becomes a part of the loader's name,
 * because the loader remembers a failure by name.
 */
const failures = new Map<string, number>();

/**
 * Returns the graph host of a revision, which runs in its own isolate. This costs nothing until it is called, and
 * the code is only read if there is no warm isolate of this revision. A call fails if the code does not exist.
 */
export function loadRevision(
  env: Env,
  exports: Cloudflare.Exports,
  ref: RevisionRef,
  read: () => Promise<BuiltCode | null> = () => storedCode(env, ref),
): GraphHostApi {
  const worker = revisionWorker(env, exports, ref, read);
  return worker.getEntrypoint("GraphHost") as unknown as GraphHostApi;
}

/** Returns the app of a revision's project, which handles requests by `fetch`; `props` identify the caller. */
export function loadApp(
  env: Env,
  exports: Cloudflare.Exports,
  ref: RevisionRef,
  props: HostProps,
): Pick<Fetcher, "fetch"> {
  const worker = revisionWorker(env, exports, ref, () => storedCode(env, ref));
  return worker.getEntrypoint("GraphHost", { props });
}

function revisionWorker(
  env: Env,
  exports: Cloudflare.Exports,
  ref: RevisionRef,
  read: () => Promise<BuiltCode | null>,
): WorkerStub {
  const name = `${ref.workspaceId}/${ref.deploymentId}/${ref.revisionId}`;
  const failed = failures.get(name) ?? 0;
  return env.LOADER.get(failed === 0 ? name : `${name}/${failed}`, async () => {
    try {
      return await revisionCode(env, exports, ref, read);
    } catch (cause) {
      failures.set(name, failed + 1);
      const error = new Error(`The code of revision ${ref.revisionId} cannot be read: ${cause}`);
      throw Object.assign(error, { code: CODE_UNAVAILABLE, cause });
    }
  });
}

/**
 * Starts the isolate of a revision whose code is in memory, and loads its graphs for the callers that follow. It
 * is not awaited and does not report a failure, which the next call will encounter.
 */
export function warmRevision(
  env: Env,
  exports: Cloudflare.Exports,
  ref: RevisionRef,
  code: BuiltCode,
): void {
  loadRevision(env, exports, ref, async () => code)
    .check()
    .catch(() => {});
}

async function storedCode(env: Env, ref: RevisionRef): Promise<BuiltCode | null> {
  const object = await env.SOURCES.get(builtCodeKey(ref));
  return object === null ? null : readCode(object);
}

async function revisionCode(
  env: Env,
  exports: Cloudflare.Exports,
  ref: RevisionRef,
  read: () => Promise<BuiltCode | null>,
): Promise<WorkerLoaderWorkerCode> {
  const [built, row] = await Promise.all([read(), readRevisionToLoad(env.DB, ref)]);
  if (built === null || row === undefined) throw new Error("there is no such revision");
  const { encryptionKeys, deployedLimits } = parseSettings(env);
  const secrets = await openSecrets(encryptionKeys, ref, row.secrets);
  const { env: own, outboundHosts } = revisionEnv({ ...ref, deploymentName: row.name }, secrets);
  return workerCode({
    built,
    env: own,
    agentServer: exports.AgentServer({
      props: { workspaceId: ref.workspaceId, deploymentId: ref.deploymentId },
    }),
    limits: deployedLimits,
    outbound: exports.Outbound({ props: { ...ref, hosts: outboundHosts } }),
    tail: exports.RevisionTail({ props: ref }),
  });
}

/** Returns the whole environment of deployed code: its secrets, and which deployment it runs in. */
function revisionEnv(
  ref: RevisionRef & { deploymentName: string },
  secrets: Record<string, string>,
): { env: Record<string, string>; outboundHosts: HostList | null } {
  const { [OUTBOUND_HOSTS]: hosts, [GITHUB_TOKEN]: _token, [PUSH_SECRET]: _push, ...own } = secrets;
  return {
    env: {
      ...own,
      LANGSMITH_HOST_PROJECT_ID: ref.deploymentId,
      LANGSMITH_HOST_PROJECT_NAME: ref.deploymentName,
      LANGSMITH_HOST_REVISION_ID: ref.revisionId,
    },
    outboundHosts: ownHosts(hosts),
  };
}

type InvocationLimits = { cpuMs: number; subRequests: number };

/**
 * Returns what the Worker Loader needs for an isolate: the code, an environment with nothing of the platform's,
 * limits per invocation, and `outbound` as its only access to the network.
 */
export function workerCode(options: {
  built: BuiltCode;
  env: Record<string, string>;
  /** The deployment's own agent server, for clients that its code creates without an address. */
  agentServer: Fetcher;
  limits: InvocationLimits;
  outbound: Fetcher;
  tail: Fetcher;
}): WorkerLoaderWorkerCode {
  const { built, env, agentServer, limits, outbound, tail } = options;
  const modules = Object.entries(built.modules).map(([path, module]) => [path, toLoader(module)]);
  return {
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: ["nodejs_compat"],
    mainModule: built.main,
    modules: Object.fromEntries(modules),
    env: { ...env, THREADWORKS_AGENT_SERVER: agentServer },
    limits,
    globalOutbound: outbound,
    tails: [tail],
  };
}

function toLoader({ type, bytes }: BuiltModule): WorkerLoaderModule {
  if (type === "wasm") return { wasm: bytes };
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  if (type === "json") return { json: JSON.parse(text) };
  return type === "js" ? { js: text } : { text };
}

/** Returns the hosts that the deployment allows its code to reach; null if it leaves that to the installation. */
function ownHosts(hosts: string | undefined): HostList | null {
  // An invalid list allows nothing; it is refused when it is set.
  return hosts === undefined ? null : (parseHostList(hosts) ?? []);
}

/**
 * Returns the policy for requests that the platform itself makes on behalf of a revision; null stands for the
 * project that the Worker was built with. Throws if the revision's secrets cannot be read.
 */
export async function readOutboundPolicy(
  env: Env,
  revision: RevisionRef | null,
): Promise<OutboundPolicy> {
  const { outboundHosts, outboundPrivateEndpoints, encryptionKeys } = parseSettings(env);
  const installation = { installation: outboundHosts, allowPrivate: outboundPrivateEndpoints };
  if (revision === null) return { ...installation, deployment: null };
  const row = await readRevisionToLoad(env.DB, revision);
  if (row === undefined) throw new Error(`There is no revision ${revision.revisionId}`);
  const secrets: Record<string, string> = JSON.parse(row.secrets);
  const { [OUTBOUND_HOSTS]: sealed } = secrets;
  if (sealed === undefined) return { ...installation, deployment: null };
  const only = JSON.stringify({ [OUTBOUND_HOSTS]: sealed });
  const { [OUTBOUND_HOSTS]: hosts } = await openSecrets(encryptionKeys, revision, only);
  return { ...installation, deployment: ownHosts(hosts) };
}
