import { resolve } from "node:path";
import { bundleForBrowsers } from "./bundle.ts";
import { type PageServer, servePages } from "./page-server.ts";

const REPO_ROOT = resolve(import.meta.dirname, "../../..");

/** A served page; `url` is its address. */
export type AppPage = PageServer;

/** Serves an app on its own origin. Its single page has the SDK's `Client` as `sdk.Client`. */
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
