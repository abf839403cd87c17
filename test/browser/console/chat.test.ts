import { Client } from "@langchain/langgraph-sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import {
  closeQuiet,
  type ConsolePage,
  expectAccessible,
  openConsole,
  say,
} from "../support/console-page.ts";
import { type ConsoleServer, startConsole } from "../support/start-console.ts";

/** The local model pauses this long before each word, so that a test can find its run still running. */
const SLOW = { token_delay_ms: 1_000 };

let server: ConsoleServer;
let client: Client;
let browser: Browser;
const opened: ConsolePage[] = [];

beforeAll(async () => {
  server = await startConsole();
  client = new Client({ apiUrl: server.url, apiKey: server.apiKey });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});
afterEach(() => closeQuiet(opened.splice(0)));

async function open(path = "", signedIn = true): Promise<Page> {
  const consolePage = await openConsole(browser, server, { path, signedIn });
  opened.push(consolePage);
  return consolePage.page;
}

/** Opens a chat with a new assistant. */
async function openChat(graph: string, context: object = {}): Promise<Page> {
  const { assistant_id } = await client.assistants.create({ graphId: graph, context });
  return open(`/agents/${assistant_id}`);
}

/** Expects the runs of the open thread to reach these statuses on the server. */
async function expectRuns(page: Page, statuses: string[]): Promise<void> {
  const thread = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await expect
    .poll(async () => (await client.runs.list(thread)).map(({ status }) => status))
    .toEqual(statuses);
}

/** Returns the texts of the messages, in their order. */
function texts(page: Page): Promise<string[]> {
  return page.getByRole("article").locator("p").allTextContents();
}

test("the printed link leads a new user from a chat to its trace and to a rating", async () => {
  const page = await open();
  await page.getByRole("link", { name: "Chat with agent", exact: true }).waitFor();
  expect(new URL(page.url()).hash).toBe("");
  await expectAccessible(page);
  await page.getByRole("link", { name: "Chat with agent", exact: true }).click();
  await say(page, "What is (3 + 4) * 5?");
  await page.getByText("(3 + 4) * 5 is 35.").waitFor();
  await page.getByText("calculator").first().click();
  await page.getByText("Result").waitFor();
  await page.getByRole("button", { name: "Good" }).click();
  await page.getByRole("button", { name: "Good", pressed: true }).waitFor();
  await expectAccessible(page);

  await page.getByRole("link", { name: "Trace", exact: true }).click();
  await page.getByRole("option").filter({ hasText: "llm" }).first().click();
  await page.getByRole("heading", { name: "LocalChatModel" }).waitFor();
  await page.getByRole("option").first().click();
  await page.getByText("user_score").waitFor();
  await expectAccessible(page);
  const [run] = await client.runs.list(await firstThread(page));
  const headers = { "x-api-key": server.apiKey };
  const answer = await fetch(`${server.url}/api/v1/feedback?run=${run?.run_id}`, { headers });
  expect(await answer.json()).toMatchObject([{ key: "user_score", score: 1 }]);
});

/** Returns the thread of the run that the page shows, from the run's metadata. */
async function firstThread(page: Page): Promise<string> {
  const runId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const headers = { "x-api-key": server.apiKey };
  const root = await fetch(`${server.url}/api/v1/runs/${runId}`, { headers });
  const { extra } = (await root.json()) as { extra: { metadata: { thread_id: string } } };
  return extra.metadata.thread_id;
}

test("an invalid key is refused with the server's message, and a valid one opens the page", async () => {
  const page = await open("/traces", false);
  await page.getByLabel("API key").fill("tw_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("Invalid API key").waitFor();
  await expectAccessible(page);
  await page.getByLabel("API key").fill(server.apiKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Traces" }).waitFor();
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain("tw_");
  await page.reload();
  await page.getByRole("heading", { name: "Traces" }).waitFor();
});

test("a second tab of the same browser is signed in by the first", async () => {
  const first = await open();
  await first.getByRole("heading", { name: "Agents" }).waitFor();
  const second = await first.context().newPage();
  await second.goto(`${server.url}/console/traces`);
  await second.getByRole("heading", { name: "Traces" }).waitFor({ timeout: 150_000 });
  expect(await second.getByLabel("API key").count()).toBe(0);
});

test("stop cancels the run on the server", async () => {
  const page = await openChat("agent", SLOW);
  await say(page, "Tell me everything that you can do for me");
  await page.getByRole("button", { name: "Stop" }).waitFor();
  await expect.poll(() => texts(page)).toHaveLength(2);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  await expectRuns(page, ["interrupted"]);
});

test("a message that is sent during a run is shown as queued, and answered after the first", async () => {
  const page = await openChat("agent", { token_delay_ms: 400 });
  await say(page, "What is the weather in Bern?");
  await page.getByRole("button", { name: "Stop" }).waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("What is 6 * 7?");
  await page.getByRole("button", { name: "Queue" }).click();
  await page.getByRole("list", { name: "Queued messages" }).getByText("What is 6 * 7?").waitFor();
  await page.getByText("6 * 7 is 42.").waitFor();
  expect(await texts(page)).toEqual([
    "What is the weather in Bern?",
    expect.stringMatching(/^It is .* in Bern/),
    "What is 6 * 7?",
    "6 * 7 is 42.",
  ]);
  await expectRuns(page, ["success", "success"]);
});

test("a queued run that has begun is also stopped on the server", async () => {
  const page = await openChat("agent", SLOW);
  await say(page, "What is 1 + 1?");
  await page.getByRole("button", { name: "Stop" }).waitFor();
  await page
    .getByRole("textbox", { name: "Message" })
    .fill("Tell me everything that you can do for me");
  await page.getByRole("button", { name: "Queue" }).click();
  const queue = page.getByRole("list", { name: "Queued messages" });
  await queue.getByRole("listitem").waitFor();
  await queue.getByRole("listitem").waitFor({ state: "detached" });
  // By now the page shows the second run's first words.
  await expect.poll(() => texts(page)).toHaveLength(4);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  await expectRuns(page, ["interrupted", "success"]);
});

test("a page that is reloaded during a run continues to show it", async () => {
  const page = await openChat("agent", { token_delay_ms: 400 });
  await say(page, "What is the weather in Bern?");
  await page.getByRole("button", { name: "Stop" }).waitFor();
  await page.waitForURL(/\/agents\/[^/]+\/[\da-f-]{36}$/);
  await page.reload();
  await page.getByText(/^It is .* in Bern, at .* Celsius\.$/).waitFor();
  await page.getByRole("button", { name: "Good" }).waitFor();
  await expectRuns(page, ["success"]);
});

test("an edited message is another branch, and both can be read", async () => {
  const page = await openChat("agent");
  await say(page, "What is 1 + 1?");
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edited text" }).fill("What is 2 + 2?");
  await page.getByRole("button", { name: "Send as another branch" }).click();
  await page.getByText("2 + 2 is 4.").waitFor();
  await page.getByRole("button", { name: "Previous branch" }).click();
  await page.getByText("1 + 1 is 2.").waitFor();
  expect(await texts(page)).toEqual(["What is 1 + 1?", "1 + 1 is 2."]);
});

test("a conversation can continue from a checkpoint of the time line", async () => {
  const page = await openChat("agent");
  await say(page, "What is 1 + 1?");
  await page.getByText("1 + 1 is 2.").waitFor();
  await say(page, "What is 5 + 5?");
  await page.getByText("5 + 5 is 10.").waitFor();
  await page.getByRole("tab", { name: "Time line" }).click();
  const steps = page.getByRole("listitem").filter({ hasText: "end" });
  await expect.poll(() => steps.count()).toBe(2);
  await steps.last().getByRole("button", { name: "Fork" }).click();
  await say(page, "What is 3 + 3?");
  await page.getByText("3 + 3 is 6.").waitFor();
  expect(await texts(page)).toEqual([
    "What is 1 + 1?",
    "1 + 1 is 2.",
    "What is 3 + 3?",
    "3 + 3 is 6.",
  ]);
});

test("an interrupt is a form, and changed arguments are approved as changed", async () => {
  const page = await openChat("approval");
  await say(page, "Please refund order 1234 for $25");
  await page.getByLabel("amount").fill("20");
  await expectAccessible(page);
  expect(await page.locator('[data-node="review"]').count()).toBe(1);
  await page.getByRole("button", { name: "Approve with changes" }).click();
  await page.getByText("Receipt: refund-1234-20").waitFor();
});

test("an interrupt can be rejected with a reason", async () => {
  const page = await openChat("approval");
  await say(page, "Please refund order 77 for $5");
  await page.getByLabel("Reason", { exact: true }).fill("too late");
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByText("The refund was not approved: too late.").waitFor();
  expect(await page.getByRole("button", { name: "Reject" }).count()).toBe(0);
});

test("an assistant's version is saved by a form, compared, and set active again", async () => {
  const { assistant_id } = await client.assistants.create({ graphId: "agent", name: "versioned" });
  const page = await open(`/agents/${assistant_id}/versions`);
  await page.getByLabel(/^system_prompt/).fill("Answer in French.");
  await page.getByRole("button", { name: "Save as version 2" }).click();
  await page.getByRole("button", { name: "Save as version 3" }).waitFor();
  expect(await client.assistants.get(assistant_id)).toMatchObject({
    version: 2,
    context: { system_prompt: "Answer in French." },
  });
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("row", { name: /context\.system_prompt/ }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Set active" }).click();
  await page.getByRole("button", { name: "Save as version 2" }).waitFor();
  expect(await client.assistants.get(assistant_id)).toMatchObject({ version: 1 });
});

test("the keyboard alone leads from page to page", async () => {
  const page = await open();
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "Chat with approval" }).first().waitFor();
  await expectAccessible(page);
  await page.keyboard.type("go traces");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Traces" }).waitFor();
});
