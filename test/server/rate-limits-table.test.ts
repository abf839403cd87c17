import { send } from "../support/http.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const RUN = "6f1c6a52-0f0e-4a3c-9a54-2f1f6a1c2b3d";

type Key = "x-api-key" | "x-user-id" | "IP";

/** The published table: a request of each row, the key that it is counted by, and the limits of us and eu. */
const TABLE: readonly [request: string, key: Key, us: string, eu: string][] = [
  ["OPTIONS /api/v1/runs", "IP", "2000 / 10", "2000 / 10"],
  ["GET /api/v1/info", "IP", "2000 / 10", "2000 / 10"],
  ["POST /api/v1/metadata/submit", "IP", "2000 / 10", "2000 / 10"],
  ["GET /v2/auth/providers", "x-api-key", "2000 / 10", "2000 / 10"],
  ["GET /api/v1/auth", "x-user-id", "2000 / 10", "2000 / 10"],
  ["POST /api/v1/v1/beacon", "IP", "2000 / 10", "2000 / 10"],
  ["GET /api/v1/repos/acme/prompt", "x-api-key", "100 / 60", "100 / 60"],
  ["GET /api/v1/repos", "x-user-id", "100 / 60", "100 / 60"],
  ["POST /api/v1/runs/batch", "x-api-key", "2000 / 10", "2000 / 10"],
  ["POST /otel/v1/traces", "x-api-key", "2000 / 10", "2000 / 10"],
  [`POST /api/v1/sessions/${RUN}/charts`, "x-api-key", "750 / 600", "750 / 600"],
  ["POST /api/v1/charts/preview", "x-user-id", "750 / 600", "750 / 600"],
  ["POST /api/v1/runs/multipart", "x-api-key", "6000 / 10", "6000 / 10"],
  ["POST /api/v1/runs/query", "x-api-key", "15 / 10", "15 / 10"],
  ["POST /api/v1/runs/query", "x-user-id", "300 / 10", "300 / 10"],
  ["POST /api/v2/runs/query", "x-api-key", "15 / 10", "15 / 10"],
  ["POST /v2/runs/query", "x-api-key", "15 / 10", "15 / 10"],
  ["POST /api/v2/runs/query", "x-user-id", "300 / 10", "300 / 10"],
  ["POST /api/v1/generate", "x-api-key", "30 / 3600", "30 / 3600"],
  ["POST /api/v1/generate", "x-user-id", "30 / 3600", "30 / 3600"],
  ["GET /api/v1/commits/acme/prompt", "x-api-key", "10000 / 60", "2000 / 60"],
  ["GET /api/v1/commits/acme/prompt", "x-user-id", "10000 / 60", "2000 / 60"],
  [`DELETE /api/v1/sessions/${RUN}`, "x-api-key", "10 / 60", "10 / 60"],
  [`POST /api/v1/runs/rules/${RUN}/trigger`, "x-api-key", "10 / 60", "10 / 60"],
  ["DELETE /api/v1/sessions", "x-user-id", "30 / 60", "30 / 60"],
  ["POST /api/v1/runs", "x-api-key", "2000 / 10", "2000 / 10"],
  [`PATCH /api/v1/runs/${RUN}`, "x-api-key", "2000 / 10", "2000 / 10"],
  ["POST /api/v1/feedback", "x-api-key", "2000 / 10", "2000 / 10"],
  [`GET /api/v1/runs/${RUN}`, "x-api-key", "30 / 60", "30 / 60"],
  ["GET /api/v1/examples", "x-api-key", "5000 / 60", "5000 / 60"],
  [`POST /v2/deployments/${RUN}/github-webhook`, "IP", "1000 / 10", "1000 / 10"],
  ["GET /api/v1/sessions", "x-api-key", "1000 / 10", "1000 / 10"],
  ["GET /api/v1/sessions", "x-user-id", "1000 / 10", "1000 / 10"],
  ["GET /api/v1/public/download/file", "IP", "5000 / 60", "5000 / 60"],
  ["POST /api/v1/runs/stats", "x-api-key", "1 / 10", "20 / 10"],
  ["GET /api/v1/sessions", "IP", "100 / 60", "100 / 60"],
];

/** Rows with limits up to this are tested to the limit; for others a test would have to send too many requests. */
const LOW = 30;

for (const region of ["us", "eu"] as const) {
  const test = testWithServer({ RATE_LIMITS: "on", REGION: region });

  test.for(TABLE)(`${region}: %s, by %s`, async ([request, key, us, eu], { server, expect }) => {
    const [count, seconds] = (region === "us" ? us : eu).split(" / ").map(Number);
    const headers = await headersFor(server, key);
    const answer = await requestOf(server, request, headers);
    expect(policyOf(answer.headers)).toEqual({ count, seconds });
    expect(answer.status).not.toBe(429);
    if (count === undefined || count > LOW) return;

    const statuses: number[] = [];
    for (let sent = 1; sent <= count; sent += 1) {
      statuses.push((await requestOf(server, request, headers)).status);
    }
    expect(statuses.filter((status) => status === 429)).toEqual([429]);
    expect(statuses.at(-1)).toBe(429);
  });
}

/** Returns headers with a key or user that no other row has, so that rows do not share counters. */
async function headersFor(server: TestServer, key: Key): Promise<Record<string, string>> {
  if (key === "x-user-id") return { "x-user-id": crypto.randomUUID() };
  if (key === "IP") return {};
  // The plan of workspaces in a region without its own plans.
  const { apiKey } = await makeWorkspace(server, "limits", "developer");
  return { "x-api-key": apiKey };
}

function requestOf(server: TestServer, request: string, headers: Record<string, string>) {
  const [method = "", path = ""] = request.split(" ");
  const body = method === "POST" || method === "PATCH" ? {} : undefined;
  return send(server, method, path, body, headers);
}

function policyOf(headers: Headers): { count: number; seconds: number } | null {
  const policy = /^"[\w-]+";q=(\d+);w=(\d+);pk=:[\w+/=]+:$/.exec(
    headers.get("ratelimit-policy") ?? "",
  );
  return policy === null ? null : { count: Number(policy[1]), seconds: Number(policy[2]) };
}
