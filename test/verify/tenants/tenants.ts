import fc from "fast-check";
import { v7 } from "uuid";
import { isAgentServer } from "../../support/agent-routes.ts";
import { type ApiDocument, type Operation, operationsOf, readDocument } from "../fuzz/document.ts";
import { type FuzzRequest, requestsFor } from "../fuzz/requests.ts";
import { type PartResult, Problems, type Target } from "../part.ts";
import type { Furnished, Ids } from "./furnish.ts";

/** Number of requests that are generated for an operation, to get some that name another workspace's resource. */
const TRIES = 60;
const TIMEOUT_MS = 60_000;

/** Share tokens grant access by themselves, and the wait endpoint takes as long as it is told to. */
const LEFT_OUT = /\{(?:share_token|token)\}|\/auth\/wait\/|\/auth\/callback\//;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/g;
/** Signatures, and short names that end with a part of an id. */
const TOKEN = /(?<=[=/."-])[\w-]{40,}|(?<=furnished-)[0-9a-f]{8}/g;

/** The workspaces: `other` requests the owner's resources, and `twin` missing ones in the same way. */
export type Tenants = { owner: Furnished; other: Furnished; twin: Furnished };

export type TenantOptions = { seed: number; requestsPerOperation: number };

/**
 * Requests another workspace's resources from every operation, in paths, queries and bodies, and missing resources
 * from a workspace with the same history: the answers must not differ. The owner's resources must be the same before
 * and after.
 */
export async function tenantMatrix(
  { owner, other, twin }: Tenants,
  { seed, requestsPerOperation }: TenantOptions,
): Promise<PartResult> {
  const document = await readDocument(owner.target.url);
  const operations = operationsOf(document).filter(({ path }) => !LEFT_OUT.test(path));
  const problems = new Problems();
  const asked = new Set<string>();
  let pairs = 0;
  const nothings = { ids: idsOfNothing(owner.ids), agentIds: idsOfNothing(owner.agentIds) };
  const before = await readings(owner, operations);

  for (const [index, operation] of operations.entries()) {
    const name = `${operation.method} ${operation.path}`;
    const isAgent = isAgentServer(operation.path);
    const ids = isAgent ? owner.agentIds : owner.ids;
    const nothing = isAgent ? nothings.agentIds : nothings.ids;
    const requests = naming(ids, operation, { document, seed: seed + index });
    // Requests go to the caller's own agent server, and to the owner's.
    const places = isAgent
      ? [
          [other.agentPath, twin.agentPath],
          [owner.agentPath, `/deployments/${v7()}`],
        ]
      : [["", ""]];
    for (const [path = "", twinPath = ""] of places) {
      for (const request of requests.slice(0, requestsPerOperation)) {
        const [found, wanted] = [
          await answer(other.target, path, request),
          await answer(twin.target, twinPath, instead(request, ids, nothing)),
        ];
        pairs += 1;
        asked.add(name);
        if (found === wanted) continue;
        const text = `${request.method} ${request.target} ${request.body ?? ""}`.slice(0, 800);
        problems.add(name, `${text}\n    gave ${found}\n    and for nothing ${wanted}`);
      }
    }
  }

  const after = await readings(owner, operations);
  for (const [target, text] of before) {
    if (after.get(target) === text) continue;
    problems.add(target, `${target}: its owner reads ${after.get(target)} instead of ${text}`);
  }
  return {
    figures: [
      ["operations", String(asked.size)],
      ["pairs of requests", String(pairs)],
      ["owner's readings", String(before.size)],
      ["answers that differ", String(problems.count)],
    ],
    problems: problems.list(),
  };
}

/** Returns requests of an operation that name at least one of the ids. */
function naming(
  ids: Ids,
  operation: Operation,
  { document, seed }: { document: ApiDocument; seed: number },
): FuzzRequest[] {
  const known = new Map(Object.entries(ids).map(([name, id]) => [name, [id]]));
  const requests = fc.sample(requestsFor(operation, { document, ids: known }), {
    numRuns: TRIES,
    seed,
  });
  const texts = new Set(Object.values(ids).flatMap((id) => [id, encodeURIComponent(id)]));
  return requests.filter(({ target, body = "" }) =>
    [...texts].some((text) => target.includes(text) || body.includes(text)),
  );
}

/** Returns ids of the same kinds that do not exist. Equal ids are replaced by equal ones. */
function idsOfNothing(ids: Ids): Ids {
  const made = new Map<string, string>();
  const nothing = (id: string): string => {
    const known = made.get(id) ?? id.replaceAll(UUID, () => v7());
    made.set(id, known);
    return known;
  };
  return Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, nothing(id)]));
}

function instead(request: FuzzRequest, ids: Ids, others: Ids): FuzzRequest {
  const replace = (text: string): string => {
    let replaced = text;
    for (const [name, id] of Object.entries(ids)) {
      const other = others[name] ?? "";
      replaced = replaced
        .replaceAll(id, other)
        .replaceAll(encodeURIComponent(id), encodeURIComponent(other));
    }
    return replaced;
  };
  const { target, body } = request;
  return { ...request, target: replace(target), body: body === undefined ? body : replace(body) };
}

/** Returns the status and the text of an answer, with values that always differ replaced by constants. */
async function answer(
  { url, apiKey }: Target,
  path: string,
  { method, target, headers, body }: FuzzRequest,
): Promise<string> {
  const response = await fetch(url + path + target, {
    method,
    headers: { "x-api-key": apiKey, ...headers },
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body === undefined ? {} : { body }),
  });
  return `${response.status} ${masked(await response.text())}`;
}

function masked(text: string): string {
  return text.replaceAll(UUID, "<id>").replaceAll(TIME, "<time>").replaceAll(TOKEN, "<token>");
}

/** Returns the owner's view of its resources, by path: every `GET` with their ids in its path. */
async function readings(
  { target, ids, agentIds, agentPath }: Furnished,
  operations: readonly Operation[],
): Promise<Map<string, string>> {
  const read = new Map<string, string>();
  for (const { method, path, parameters } of operations) {
    if (method !== "GET" || !path.includes("{")) continue;
    const isAgent = isAgentServer(path);
    const own = isAgent ? agentIds : ids;
    const filled = path.replaceAll(/\{(\w+)\}/g, (place, name: string) => own[name] ?? place);
    // Usage counts these readings, too, after a delay.
    if (filled.includes("{") || /stream$|join$|usage$/.test(filled)) continue;
    const required = parameters.filter((one) => one.in === "query" && one.required === true);
    const query = required.map(({ name }) => `${name}=${own[name] ?? ""}`).join("&");
    const request = { method, target: `${filled}?${query}`, headers: {}, body: undefined };
    read.set(filled, await answer(target, isAgent ? agentPath : "", request));
  }
  return read;
}
