import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { SDK_PACKAGES, serveChatPages } from "./support/chat-page.ts";
import { launchChromium } from "./support/chromium.ts";
import type { PageServer } from "./support/page-server.ts";
import { type AgentServer, startAgentServer } from "./support/start-agent-server.ts";

/** What the page's script defines, for the functions below that run in the page. */
declare const submit: (city: string) => Promise<void>;

const WITHIN = { timeout: 60_000, interval: 50 };

let server: AgentServer;
let pages: PageServer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  server = await startAgentServer({}, "routes/components.langgraph.json");
  pages = await serveChatPages("components-app.ts");
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
  await server?.close();
});
beforeEach(async () => {
  page = await browser.newPage();
});
afterEach(() => page.close());

describe.each(SDK_PACKAGES.map((name, version) => ({ name, version })))(
  "LoadExternalComponent of $name",
  ({ version }) => {
    test("shows a component of the project, with its style, which works in the page", async () => {
      const query = { server: server.url, key: server.apiKey };
      await page.goto(`${pages.url}/${version}?${new URLSearchParams(query)}`);
      await page.locator("main").waitFor({ state: "attached", timeout: WITHIN.timeout });
      await page.evaluate(() => void submit("Bern"));
      // It is in a shadow root, which locators look into.
      const card = page.locator("button.weather");
      const text = () => card.textContent({ timeout: WITHIN.timeout });
      await vi.waitFor(
        async () => expect(await text()).toBe("Sunny in Bern, 0 clicks, 1 messages"),
        WITHIN,
      );
      const color = await card.evaluate((element) => getComputedStyle(element).color);
      expect(color).toBe("rgb(1, 2, 3)");
      await card.click({ timeout: WITHIN.timeout });
      await vi.waitFor(
        async () => expect(await text()).toBe("Sunny in Bern, 1 clicks, 1 messages"),
        WITHIN,
      );
    });
  },
);
