import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../browser/support/chromium.ts";
import { PlatformProcess } from "./support/platform-process.ts";

const WITHIN_MS = 300_000;
/** The run's answer takes longer than the kill, which happens once its first words are in the page. */
const context = { token_delay_ms: 2_000 };

let platform: PlatformProcess;
let browser: Browser;

beforeAll(async () => {
  platform = await PlatformProcess.start();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await platform?.dispose();
});

test("a chat whose server is killed during a run continues by itself when the server is back", async () => {
  const { assistant_id } = await platform.client.assistants.create({ graphId: "agent", context });
  const page = await browser.newPage();
  page.setDefaultTimeout(WITHIN_MS);
  await page.goto(`${platform.url}/console/agents/${assistant_id}#key=${platform.apiKey}`);
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill("hi");
  await field.press("Enter");
  await page.waitForURL(/\/agents\/[^/]+\/[\da-f-]{36}$/);
  await page.getByText("Let me").waitFor();
  const thread = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await platform.kill();
  await page.getByText("The server does not respond.").waitFor();
  await platform.start();
  await page.getByText("The answer is HI").waitFor();
  await page.getByText("The server does not respond.").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  const runs = await platform.client.runs.list(thread);
  expect(runs.map(({ status }) => status)).toEqual(["success"]);
  expect(await page.getByRole("article").count()).toBeGreaterThan(1);
  expect(await page.getByRole("alert").count()).toBe(0);
});
