import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { test as base } from "vitest";

type SeenRequest = {
  method: string;
  /** The path as received, with the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
};

/** Handles one request. */
export type Answer = (response: ServerResponse) => void;

type ScriptedServer = {
  url: string;
  seen: SeenRequest[];
  close: () => Promise<void>;
};

/** A test with `start(...answers)`, which starts a server that stops with its test. */
export const test = base
  .extend("servers", (): ScriptedServer[] => [])
  .extend("start", ({ servers }, { onCleanup }) => {
    onCleanup(async () => void (await Promise.all(servers.map((server) => server.close()))));
    return async (...answers: Answer[]): Promise<ScriptedServer> => {
      const server = await startScriptedServer(...answers);
      servers.push(server);
      return server;
    };
  });

/** Gives each request the next answer, and repeats the last one. */
async function startScriptedServer(...answers: Answer[]): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { method = "", url = "", headers } = request;
      const answer = answers[Math.min(seen.length, answers.length - 1)];
      seen.push({ method, path: url, headers, body: await buffer(request) });
      answer?.(response);
    })();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

export function answer(status: number, body = "", headers: Record<string, string> = {}): Answer {
  return (response) => void response.writeHead(status, headers).end(body);
}

/** Returns an error as S3 servers write it. */
export function s3Error(status: number, code: string, message: string): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message><RequestId>1</RequestId></Error>`;
  return answer(status, body, { "content-type": "application/xml" });
}

/** The answer of an S3 server to an upload. */
export const stored: Answer = answer(200, "", { etag: '"etag"' });

/** Breaks the connection before an answer. */
export const reset: Answer = (response) => void response.socket?.resetAndDestroy();

/** Gives no answer as long as the server lives. */
export const silence: Answer = () => undefined;

/** Breaks the connection within the answer. */
export const half: Answer = (response) => {
  response.writeHead(200, { "content-length": "100", etag: '"etag"' });
  response.write("half", () => void response.socket?.destroy());
};
