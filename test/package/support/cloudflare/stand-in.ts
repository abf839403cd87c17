import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { Account } from "./account.ts";
import { answer, type Asked } from "./routes.ts";

const ACCOUNT_ID = "0123456789abcdef0123456789abcdef";
const BASE = "/client/v4";

export type StandIn = {
  account: Account;
  /** `CLOUDFLARE_API_BASE_URL` and the other variables that make wrangler send requests to this server only. */
  env: Record<string, string>;
  url: string;
  /** Method and path of each request, without the account. */
  asked: string[];
  /**
   * Is called with each request that changes something. Its result is the answer, if it has a status. With "hang" the
   * request is neither carried out nor answered; with "silent" it is carried out, but never answered.
   */
  interfere: (asked: Asked) => { status: number } | "hang" | "silent" | undefined;
  stop: () => Promise<void>;
};

/** Serves Cloudflare's API on loopback, as documented, for the requests of `up`, `down` and wrangler. */
export async function startStandIn(host: string): Promise<StandIn> {
  const account = new Account();
  const asked: string[] = [];
  const standIn: Pick<StandIn, "interfere"> = { interfere: () => undefined };
  const server = createServer((request, response) => {
    void handle(request, response, { account, asked, standIn });
  });
  server.listen(0, host);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("There is no port");
  const url = `http://${host}:${address.port}`;
  return Object.assign(standIn, {
    account,
    asked,
    url,
    env: {
      CLOUDFLARE_API_BASE_URL: `${url}${BASE}`,
      CLOUDFLARE_API_TOKEN: "a token of the tests",
      CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID,
      WRANGLER_SEND_METRICS: "false",
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  });
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  {
    account,
    asked,
    standIn,
  }: Pick<StandIn, "account" | "asked"> & {
    standIn: Pick<StandIn, "interfere">;
  },
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const url = new URL(request.url ?? "/", "http://stand-in");
  const path = url.pathname.replace(BASE, "").replace(`/accounts/${ACCOUNT_ID}`, "");
  const method = request.method ?? "GET";
  const made: Asked = {
    method,
    path,
    query: url.searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks),
  };
  asked.push(`${method} ${path}`);
  const changed = method === "GET" ? undefined : standIn.interfere(made);
  if (changed === "hang") return;
  const { status, ...body } =
    changed === undefined || changed === "silent" ? await answer(account, made) : changed;
  if (changed === "silent") return;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(
    JSON.stringify({ success: status < 400, errors: [], messages: [], result: null, ...body }),
  );
}
