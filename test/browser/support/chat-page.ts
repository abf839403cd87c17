import { resolve } from "node:path";
import { bundleForBrowsers } from "./bundle.ts";
import { type PageServer, servePages } from "./page-server.ts";

const SDK = "@langchain/langgraph-sdk";

/** The versions of the SDK whose `useStream` is tested, by the package that each is installed as. */
export const SDK_PACKAGES = ["langgraph-sdk-1.10", SDK, "langgraph-sdk-2"] as const;

/** Serves an app of this folder with each version, as the pages `/0`, `/1` and so on. */
export async function serveChatPages(app = "chat-app.ts"): Promise<PageServer> {
  const scripts = await Promise.all(
    SDK_PACKAGES.map((name) =>
      bundleForBrowsers({
        entryPoints: [resolve(import.meta.dirname, app)],
        alias: name === SDK ? {} : { [SDK]: name },
      }),
    ),
  );
  return servePages(new Map(scripts.map((script, index) => [String(index), script])));
}
