import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HOST_VARS } from "../../support/private-hosts.ts";
import { launchChromium } from "../support/chromium.ts";
import { closeQuiet, openConsole, say } from "../support/console-page.ts";
import { routeHosts } from "../support/routed-hosts.ts";
import { type ConsoleServer, startConsole } from "../support/start-console.ts";

let server: ConsoleServer;
let browser: Browser;

beforeAll(async () => {
  server = await startConsole({ ...HOST_VARS, AGENT_AUTH: "api-key" });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

test("with a host for each surface, the console is on the API's host and reaches the others", async () => {
  const hosts = new Set<string>();
  const opened = await openConsole(
    browser,
    { url: `https://${HOST_VARS.API_HOST}`, apiKey: server.apiKey },
    {
      prepare: (context) =>
        routeHosts(
          context,
          (hostname) => {
            hosts.add(hostname);
            return hostname.endsWith(".test");
          },
          server.url,
        ),
    },
  );
  const { page } = opened;
  await page.getByRole("link", { name: "Chat with agent", exact: true }).click();
  await say(page, "What is 6 * 7?");
  await page.getByText("6 * 7 is 42.").waitFor();
  await page.getByRole("link", { name: "Trace", exact: true }).click();
  await page.getByRole("option").filter({ hasText: "llm" }).first().waitFor();
  await page.getByRole("link", { name: "Deployments" }).click();
  await page.getByRole("link", { name: "New deployment" }).click();
  await page.getByLabel(/^Name/).fill("on_hosts");
  await page.getByRole("button", { name: "Deploy" }).click();
  await page.getByRole("link", { name: `https://on-hosts.${HOST_VARS.AGENTS_DOMAIN}` }).waitFor();
  await page.getByText("serves").waitFor();
  const { API_HOST, CONTROL_PLANE_HOST, AGENTS_DOMAIN } = HOST_VARS;
  expect([...hosts].toSorted()).toEqual([AGENTS_DOMAIN, API_HOST, CONTROL_PLANE_HOST].toSorted());
  // The page's content security policy has refused nothing.
  await closeQuiet([opened]);
  const elsewhere = await fetch(`${server.url}/console`);
  expect(elsewhere.status).toBe(404);
});
