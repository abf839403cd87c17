import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { launchChromium } from "./chromium.ts";
import type { PageServer } from "./page-server.ts";
import type { AgentServer } from "./start-agent-server.ts";

/** How long and how often a page is looked at until it shows what is expected. */
export const WITHIN = { timeout: 150_000, interval: 50 };

/** A run with more steps than a test waits for: it ends when it is cancelled. */
export const ENDLESS = {
  input: { label: "first", steps: 100_000, delay_ms: 50 },
  options: { config: { recursion_limit: 200_000 } },
};

/** What the tests of a file have; each has a context of the browser and a page of its own. */
export type OpenedPages = {
  server: AgentServer;
  pages: PageServer;
  context: BrowserContext;
  page: Page;
};

/** Starts what a file's tests need before them, and ends it after them. What it returns is there within tests and hooks. */
export function openPages(start: {
  server: () => Promise<AgentServer>;
  pages: () => Promise<PageServer>;
}): OpenedPages {
  const opened: Partial<OpenedPages> = {};
  let browser: Browser;
  beforeAll(async () => {
    opened.server = await start.server();
    opened.pages = await start.pages();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await opened.pages?.close();
    await opened.server?.close();
  });
  beforeEach(async () => {
    opened.context = await browser.newContext();
    opened.page = await opened.context.newPage();
  });
  afterEach(() => opened.context?.close());
  return opened as OpenedPages;
}
