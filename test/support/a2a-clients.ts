import { AGENT_CARD_PATH } from "@a2a-js/sdk";
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import { type Client as OlderClient, ClientFactory as OlderFactory } from "a2a-sdk-0.3/client";
import {
  ClientFactoryOptions as OlderOptions,
  DefaultAgentCardResolver as OlderResolver,
  JsonRpcTransportFactory as OlderTransports,
} from "a2a-sdk-0.3/client";
import { answerOf, send } from "./http.ts";
import type { TestServer } from "./server.ts";

type Client = Awaited<ReturnType<ClientFactory["createFromUrl"]>>;

export type Headers = Record<string, string>;

/** Connects the official client of version 1.0, which finds the assistant by its card. */
export function connectA2a(
  server: TestServer,
  assistant: string,
  headers: Headers = {},
): Promise<Client> {
  const fetchImpl = throughServer(server, headers);
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return new ClientFactory(options).createFromUrl(
    `${server.url}/a2a/${assistant}/`,
    AGENT_CARD_PATH,
  );
}

/** Connects the official client of version 0.3. */
export function connectOlderA2a(
  server: TestServer,
  assistant: string,
  headers: Headers = {},
): Promise<OlderClient> {
  const fetchImpl = throughServer(server, headers);
  const options = OlderOptions.createFrom(OlderOptions.default, {
    transports: [new OlderTransports({ fetchImpl })],
    cardResolver: new OlderResolver({ fetchImpl }),
  });
  return new OlderFactory(options).createFromUrl(
    `${server.url}/a2a/${assistant}/`,
    AGENT_CARD_PATH,
  );
}

function throughServer(server: TestServer, own: Headers): typeof fetch {
  return (input, init = {}) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    return server.fetch(pathname + search, { ...init, headers });
  };
}

/** Sends a raw request, to test what the clients do not send or do not show. */
export function a2a(
  server: TestServer,
  assistant: string,
  method: string,
  params: unknown,
  headers: Headers = {},
): Promise<{ status: number; body: unknown }> {
  const body = { jsonrpc: "2.0", id: "1", method, params };
  return answerOf(send(server, "POST", `/a2a/${assistant}`, body, headers));
}
