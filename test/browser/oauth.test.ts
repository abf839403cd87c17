import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { CLIENT, type OAuthServer, startOAuthServer } from "../support/oauth-server.ts";
import { launchChromium } from "./support/chromium.ts";
import { type AgentServer, startAgentServer } from "./support/start-agent-server.ts";

const KEYS = { ENCRYPTION_KEYS: `1:${"k".repeat(43)}` };

let server: AgentServer;
let oauth: OAuthServer;
let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  server = await startAgentServer({ ...KEYS, EXPORT_PRIVATE_ENDPOINTS: "allow" });
  oauth = await startOAuthServer([`${server.url}/v2/auth/callback/notes`]);
  browser = await launchChromium();
  await call("POST", "/providers", {
    provider_id: "notes",
    name: "Notes",
    ...CLIENT,
    auth_url: oauth.authUrl,
    token_url: oauth.tokenUrl,
    uses_pkce: true,
  });
});
afterAll(async () => {
  await browser?.close();
  await oauth?.close();
  await server?.close();
});
beforeEach(async () => {
  context = await browser.newContext();
  page = await context.newPage();
  // Neither the provider's pages nor ours need any other origin.
  const own = new Set([new URL(server.url).origin, new URL(oauth.url).origin]);
  await page.route(
    ({ origin }) => !own.has(origin),
    (route) => route.abort("internetdisconnected"),
  );
});
afterEach(() => context.close());

async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${server.url}/v2/auth${path}`, {
    method,
    headers: { "x-api-key": server.apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

async function authenticate(user: string) {
  const body = { provider: "notes", scopes: ["openid", "notes:read"], user_id: user };
  const { status, url, auth_id: authId } = await call("POST", "/authenticate", body);
  expect(status).toBe("pending");
  return { url: String(url), authId: String(authId) };
}

test("a person logs in at the provider, comes back, and sees that it worked", async () => {
  const { url, authId } = await authenticate("ada");
  const waiting = call("GET", `/wait/${authId}?timeout=25`);
  await page.goto(url);
  await page.fill("input[name=login]", "ada@notes");
  await page.fill("input[name=password]", "anything");
  await page.click("button[type=submit]");
  await page.click("text=Continue");
  await page.waitForURL(`${server.url}/v2/auth/done?**`);

  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    status: "completed",
    provider_id: "notes",
    auth_id: authId,
  });
  expect(await page.textContent("h1")).toBe("Connected");
  const { status, token } = await waiting;
  expect(status).toBe("completed");
  expect(await oauth.userOf(String(token))).toBe("ada@notes");
});

test("a person who cancels sees it, and the waiting client is told", async () => {
  const { url, authId } = await authenticate("bob");
  const waiting = call("GET", `/wait/${authId}?timeout=25`);
  await page.goto(url);
  await page.click("text=Cancel");
  await page.waitForURL(`${server.url}/v2/auth/done?**`);
  expect(await page.textContent("h1")).toBe("Not connected");
  expect(await page.textContent("p")).toBe("Access was not granted. You can close this page.");
  expect(await waiting).toMatchObject({ status: "not_found", error: "access_denied" });
});

test("going back to the callback does no harm", async () => {
  const { url, authId } = await authenticate("eve");
  const callbacks: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/v2/auth/callback/")) callbacks.push(request.url());
  });
  await page.goto(url);
  await page.fill("input[name=login]", "eve@notes");
  await page.fill("input[name=password]", "anything");
  await page.click("button[type=submit]");
  await page.click("text=Continue");
  await page.waitForURL(`${server.url}/v2/auth/done?**`);
  const [callback = ""] = callbacks;
  await page.goto(callback);
  expect(await page.textContent("p")).toMatch(/^This link was used already/);
  const { status, token } = await call("GET", `/wait/${authId}?timeout=0`);
  expect([status, await oauth.userOf(String(token))]).toEqual(["completed", "eve@notes"]);
});
