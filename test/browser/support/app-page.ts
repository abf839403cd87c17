import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { build } from "esbuild";

const REPO_ROOT = resolve(import.meta.dirname, "../../..");

const HTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>An app</title><link rel="icon" href="data:,"></head>
<body><script src="/sdk.js"></script></body></html>`;

export type AppPage = { url: string; close: () => Promise<void> };

/** An app on an origin of its own, whose one page has the SDK's `Client` as `sdk.Client`. */
export async function serveAppPage(): Promise<AppPage> {
  const script = await bundleSdk();
  const server = createServer((request, response) => {
    const isScript = request.url === "/sdk.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : HTML);
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

/** As an app's bundler would build it for browsers. */
async function bundleSdk(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `export { Client } from "@langchain/langgraph-sdk";`,
      resolveDir: REPO_ROOT,
    },
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    globalName: "sdk",
    logLevel: "error",
  });
  const [script] = outputFiles;
  if (script === undefined) throw new Error("esbuild made no bundle of the SDK");
  return script.text;
}
