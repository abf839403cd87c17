import { resolve } from "node:path";
import { bundleForBrowsers } from "./bundle.ts";
import { type PageServer, servePages } from "./page-server.ts";

const REPO_ROOT = resolve(import.meta.dirname, "../../..");

/** `url` is that of the page. */
export type AppPage = PageServer;

/** An app on an origin of its own, whose one page has the SDK's `Client` as `sdk.Client`. */
export async function serveAppPage(): Promise<AppPage> {
  const script = await bundleForBrowsers({
    stdin: {
      contents: `export { Client } from "@langchain/langgraph-sdk";`,
      resolveDir: REPO_ROOT,
    },
    globalName: "sdk",
  });
  const pages = await servePages(new Map([["app", script]]));
  return { ...pages, url: `${pages.url}/app` };
}
