import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { launchChromium } from "./chromium.ts";
import type { PageServer } from "./page-server.ts";
import type { AgentServer } from "./start-agent-server.ts";

/** How long and how often a test polls a page until it shows what is expected. */
export const WITHIN = { timeout: 150_000, interval: 50 };

/** Input of a run with more steps than a test waits for: it ends when it is cancelled. */
export const ENDLESS = {
  input: { label: "first", steps: 100_000, delay_ms: 50 },
  options: { config: { recursion_limit: 200_000 } },
};

/** The resources of a file's tests. Each test has its own browser context and page. */
export type OpenedPages = {
  server: AgentServer;
  pages: PageServer;
  context: BrowserContext;
  page: Page;
};

/**
 * Starts these resources before a file's tests, and ends them after the tests. The returned object is usable within
 * tests and hooks only.
 */
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
