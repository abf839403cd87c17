import axe from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import type { ConsoleServer } from "./start-console.ts";

const WITHIN_MS = 150_000;

export type ConsolePage = {
  page: Page;
  context: BrowserContext;
  /** Problems that the page reported: errors of scripts, and violations of its content security policy. */
  problems: string[];
};

type Options = {
  path?: string;
  signedIn?: boolean;
  /** Is called before the page is opened. */
  prepare?: (context: BrowserContext) => Promise<void>;
};

/** Opens a page of the console in a new browser context, signed in unless it is to have no key. */
export async function openConsole(
  browser: Browser,
  server: Pick<ConsoleServer, "url" | "apiKey">,
  { path = "", signedIn = true, prepare }: Options = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({ colorScheme: "light" });
  await prepare?.(context);
  const page = await context.newPage();
  page.setDefaultTimeout(WITHIN_MS);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (/Content.Security.Policy/i.test(message.text())) problems.push(message.text());
  });
  const fragment = signedIn ? `#key=${server.apiKey}` : "";
  await page.goto(`${server.url}/console${path}${fragment}`);
  return { page, context, problems };
}

/** Types a message and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill(text);
  await field.press("Enter");
}

/** Expects that axe has no serious finding in the page, in light and in dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const theme of ["light", "dark"]) {
    await page.evaluate((value) => (document.documentElement.dataset["theme"] = value), theme);
    // The debugger evaluates it, as the page's own policy allows no other script.
    await page.evaluate(axe.source);
    const findings = await page.evaluate(async () => {
      // The script has defined this global.
      const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
      const { violations } = await inPage.run(document, { resultTypes: ["violations"] });
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join("\n")}`);
    });
    expect(findings, `${page.url()} in ${theme}`).toEqual([]);
  }
}

/** Closes the tabs, and expects that none of them has reported a problem. */
export async function closeQuiet(pages: readonly ConsolePage[]): Promise<void> {
  await Promise.all(pages.map(({ context }) => context.close()));
  expect(pages.flatMap(({ problems }) => problems)).toEqual([]);
}
