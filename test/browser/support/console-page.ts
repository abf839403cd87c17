import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import type { ConsoleServer } from "./start-console.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const WITHIN_MS = 60_000;

type Axe = {
  run: (
    context: Document,
    options: object,
  ) => Promise<{ violations: { id: string; impact: string | null; nodes: { html: string }[] }[] }>;
};

export type ConsolePage = {
  page: Page;
  context: BrowserContext;
  /** What the page has complained of: errors of scripts, and whatever its policy refused. */
  problems: string[];
};

/** A tab of a browser of its own, at a page of the console; signed in unless it is to have no key. */
export async function openConsole(
  browser: Browser,
  server: ConsoleServer,
  { path = "", signedIn = true }: { path?: string; signedIn?: boolean } = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({ colorScheme: "light" });
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

/** Sends a message as somebody types it. */
export async function say(page: Page, text: string): Promise<void> {
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill(text);
  await field.press("Enter");
}

/** The page has no finding of axe that is serious, in light and in dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const theme of ["light", "dark"]) {
    await page.evaluate((value) => (document.documentElement.dataset["theme"] = value), theme);
    // By the debugger, as the page's own policy lets no script in.
    await page.evaluate(AXE);
    const findings = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: Axe };
      const { violations } = await axe.run(document, { resultTypes: ["violations"] });
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join("\n")}`);
    });
    expect(findings, `${page.url()} in ${theme}`).toEqual([]);
  }
}
