import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type PageServer = { url: string; close: () => Promise<void> };

const html = (script: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>An app</title><link rel="icon" href="data:,"></head>
<body><div id="app"></div><script src="${script}"></script></body></html>`;

/** Serves a new origin, whose page `/<name>` only runs the script of that name. */
export async function servePages(scripts: ReadonlyMap<string, string>): Promise<PageServer> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    const script = scripts.get(pathname.slice(1, -".js".length));
    const isScript = pathname.endsWith(".js") && script !== undefined;
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : html(`${pathname}.js`));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
