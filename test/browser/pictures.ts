/**
 * Takes the pictures of the console in docs/images: `npm run pictures`. They are of a real server, which runs the
 * example agents, in a browser that uses the pages as a user would.
 */
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import buildFixtures from "../support/build-fixtures.ts";
import { launchChromium } from "./support/chromium.ts";
import { startConsole } from "./support/start-console.ts";

const IMAGES = resolve(import.meta.dirname, "../../docs/images");
const WIDE = { width: 1360, height: 850 };
const PHONE = { width: 390, height: 780 };

await buildFixtures();
const server = await startConsole();
const browser = await launchChromium();
try {
  const page = await browser.newPage({ viewport: WIDE, colorScheme: "light" });
  page.setDefaultTimeout(30_000);
  page.on("console", (message) => {
    if (message.type() === "error") console.error(message.text());
  });
  await page.goto(`${server.url}/console#key=${server.apiKey}`);
  await page.getByRole("link", { name: "Chat with approval" }).click();
  await say(page, "Please refund order 1234 for $25, it arrived broken");
  await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
  await picture(page, "approval");

  await page.goto(`${server.url}/console/agents`);
  await picture(page, "agents");
  await page.getByRole("link", { name: "Chat with agent" }).click();
  await say(page, "What is the weather in Bern and Oslo?");
  await page.getByRole("button", { name: "Good" }).waitFor();
  await say(page, "What is (3 + 4) * 5?");
  await page.getByRole("button", { name: "Good" }).nth(1).click();
  await picture(page, "chat");
  await page.setViewportSize(PHONE);
  await picture(page, "chat-phone");
  await page.setViewportSize(WIDE);

  await page.getByRole("link", { name: "Trace", exact: true }).last().click();
  const llm = page.getByRole("option").filter({ hasText: "llm" }).first();
  await llm.waitFor();
  await picture(page, "trace");
  await page.getByRole("link", { name: "Traces" }).first().click();
  await page.getByRole("link", { name: "default" }).waitFor();
  await picture(page, "projects");
  await page.getByRole("link", { name: "default" }).click();
  await page.getByRole("row").nth(2).waitFor();
  await picture(page, "runs");
  await page.getByRole("combobox", { name: "Filter" }).click();
  await page.getByRole("combobox", { name: "Filter" }).pressSequentially("and(eq(s");
  await page.getByRole("option", { name: /^status/ }).waitFor();
  await picture(page, "filter");
  await page.getByRole("combobox", { name: "Filter" }).fill("");
  await page.keyboard.press("Control+k");
  await page.getByRole("option").first().waitFor();
  await picture(page, "palette");
  await page.keyboard.press("Escape");
  await page.goto(`${server.url}/console/exports/new`);
  await page.getByLabel("Name", { exact: true }).fill("on this machine");
  await page.getByLabel("Bucket", { exact: true }).fill(server.s3.bucket);
  await page.getByLabel(/^Endpoint/).fill(server.s3.endpoint);
  await page.getByLabel("Key id").fill(server.s3.accessKeyId);
  await page.getByLabel(/^Secret/).fill(server.s3.secretAccessKey);
  await page.getByRole("button", { name: "Add the destination" }).click();
  await page.getByRole("button", { name: "Start the export" }).click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  await page.getByText(/of 3 parts, [1-9]/).waitFor();
  await picture(page, "export");
  await page.goto(`${server.url}/console/deployments/new`);
  await page.getByLabel(/^Name/).fill("weather");
  await page.getByRole("button", { name: "Deploy" }).click();
  await page.getByText("serves").waitFor();
  await page.getByRole("button", { name: "Deploy again" }).click();
  await page.getByRole("button", { name: "Roll back" }).waitFor();
  await page.getByRole("listitem").first().getByText("serves").waitFor();
  await picture(page, "deployment");
  await page.setViewportSize(PHONE);
  await picture(page, "deployment-phone");
  await page.setViewportSize(WIDE);
  await page.getByRole("link", { name: "Logs" }).first().click();
  await page.getByText("The revision is deployed").last().waitFor();
  await picture(page, "logs");
  await page.goto(`${server.url}/console/agents`);
  await page
    .getByRole("link", { name: /^version/ })
    .first()
    .click();
  await page.getByRole("textbox", { name: "Name" }).waitFor();
  await picture(page, "versions");
} finally {
  await browser.close();
  await server.close();
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
}

/** Takes a picture of the page, in light and in dark. */
async function picture(page: Page, name: string): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  await page.waitForLoadState("networkidle");
  for (const shade of ["light", "dark"]) {
    await page.evaluate((value) => (document.documentElement.dataset["theme"] = value), shade);
    await page.screenshot({ path: join(IMAGES, `console-${name}-${shade}.png`) });
  }
  await page.evaluate(() => (document.documentElement.dataset["theme"] = "light"));
}
