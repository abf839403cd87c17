import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export type SeenRequest = {
  method: string;
  /** Path with its query. */
  path: string;
  headers: IncomingMessage["headers"];
  bytes: Buffer;
  /** The value of a JSON body. */
  json: unknown;
};

/** An answer: by default JSON with status 200. */
export type Reply = {
  status?: number;
  json?: unknown;
  text?: string;
  headers?: Record<string, string>;
};

type Script = (request: SeenRequest) => Reply | Promise<Reply>;

export type ScriptedServer = {
  url: string;
  seen: SeenRequest[];
  close: () => void;
};

/** Starts a server on loopback that answers as a test defines, and records its requests. */
export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    void readRequest(incoming).then(async (request) => {
      seen.push(request);
      const { status = 200, json, text, headers = {} } = await script(request);
      outgoing.statusCode = status;
      for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
      if (json !== undefined) outgoing.setHeader("content-type", "application/json");
      outgoing.end(text ?? (json === undefined ? "" : JSON.stringify(json)));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const isJson = incoming.headers["content-type"] === "application/json";
  return {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers: incoming.headers,
    bytes,
    json: isJson ? JSON.parse(bytes.toString()) : undefined,
  };
}

export const DEPLOYMENT_ID = "0192a5c0-0000-7000-8000-00000000d001";
export const REVISION_ID = "0192a5c0-0000-7000-8000-00000000e001";

export type ControlPlaneScript = {
  /** The deployments that exist at the start. */
  deployments?: { id: string; name: string }[];
  /** Statuses of the revision, one for each request; the last one stays. */
  statuses?: string[];
  statusMessage?: string;
  buildLog?: string[];
  deployLog?: string[];
  /** Takes precedence over everything else for the requests that it answers. */
  answer?: (request: SeenRequest) => Reply | undefined;
};

/**
 * Starts a server that answers the requests of a deployment like a control plane with one deployment
 * and one revision.
 */
export async function startScriptedControlPlane(
  script: ControlPlaneScript = {},
): Promise<ScriptedServer> {
  const statuses = [...(script.statuses ?? ["DEPLOYED"])];
  let url = "";
  const deployment = (id: string, name: string): object => ({
    id,
    name,
    status: "READY",
    source_config: { custom_url: `${url}/deployments/${name}` },
    latest_revision_id: REVISION_ID,
    active_revision_id: null,
  });
  const known = script.deployments ?? [];
  const named = (json: unknown): string => (json as { name?: string }).name ?? "";
  let created = known.find(({ id }) => id === DEPLOYMENT_ID)?.name ?? "";

  const server = await startScriptedServer((request) => {
    const answer = script.answer?.(request);
    if (answer !== undefined) return answer;
    const [path = "", query] = request.path.split("?");
    switch (`${request.method} ${path}`) {
      case "GET /v2/deployments": {
        const { offset, limit } = Object.fromEntries(new URLSearchParams(query));
        const page = known.slice(Number(offset), Number(offset) + Number(limit));
        return { json: { resources: page.map(({ id, name }) => deployment(id, name)) } };
      }
      case "POST /v2/deployments/upload-url":
        return {
          json: { upload_url: `${url}/put/here?signed=1`, object_path: "w/uploads/1.tar.gz" },
        };
      case "PUT /put/here":
        return {};
      case "POST /v2/deployments":
        created = named(request.json);
        return { status: 201, json: deployment(DEPLOYMENT_ID, created) };
      case `PATCH /v2/deployments/${DEPLOYMENT_ID}`:
      case `GET /v2/deployments/${DEPLOYMENT_ID}`:
        return { json: deployment(DEPLOYMENT_ID, created) };
      case `GET /v2/deployments/${DEPLOYMENT_ID}/revisions/${REVISION_ID}`: {
        const status = (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? "UNKNOWN";
        const message = status.endsWith("FAILED") ? script.statusMessage : null;
        return { json: { id: REVISION_ID, status, status_message: message ?? null } };
      }
      case `POST /v1/projects/${DEPLOYMENT_ID}/revisions/${REVISION_ID}/build_logs`:
        return { json: logPage(script.buildLog ?? [], request.json) };
      case `POST /v1/projects/${DEPLOYMENT_ID}/revisions/${REVISION_ID}/deploy_logs`:
        return { json: logPage(script.deployLog ?? [], request.json) };
      default:
        return { status: 404, json: { detail: `${request.method} ${path} is not in the script` } };
    }
  });
  url = server.url;
  return server;
}

/** Returns the lines at or after `start_time`; each line has its own second. */
function logPage(lines: string[], json: unknown): object {
  const { order, limit, start_time } = json as {
    order: string;
    limit: number;
    start_time?: string;
  };
  const all = lines.map((message, index) => ({
    id: String(index),
    timestamp: new Date(index * 1000).toISOString(),
    level: "INFO",
    message,
  }));
  const from = all.filter(({ timestamp }) => start_time === undefined || timestamp >= start_time);
  return { logs: (order === "desc" ? from.toReversed() : from).slice(0, limit), next_offset: null };
}
