import type { Client } from "@langchain/langgraph-sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type AppPage, serveAppPage } from "./support/app-page.ts";
import { launchChromium } from "./support/chromium.ts";
import { type CuttableProxy, startCuttableProxy } from "./support/cuttable-proxy.ts";
import { type AgentServer, startAgentServer } from "./support/start-agent-server.ts";

const STEPS = 5;
const STEP_MS = 300;

/** The global that the page's script defines, for the functions below that run in the page. */
declare const sdk: { Client: typeof Client };

type Seen = { id: string | undefined; event: string; data: unknown };

let server: AgentServer;
let proxy: CuttableProxy;
let app: AppPage;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  server = await startAgentServer();
  proxy = await startCuttableProxy(server.url);
  app = await serveAppPage();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
  await proxy?.close();
  await server?.close();
});
beforeEach(async () => {
  page = await browser.newPage();
  await page.goto(app.url);
});
afterEach(() => page.close());

test("a page of another origin sees a run's chunks as they are made", async () => {
  const seen = await page.evaluate(
    async ({ apiUrl, apiKey, chunks }) => {
      const client = new sdk.Client({ apiUrl, apiKey });
      const { thread_id } = await client.threads.create();
      const events: Seen[] = [];
      let created: unknown;
      let runId = "";
      // It ends only because the page, which has seen enough, cancels it.
      const stream = client.runs.stream(thread_id, "forever", {
        input: {},
        streamMode: "custom",
        onRunCreated: (run) => (created = run),
      });
      for await (const part of stream) {
        const { id, event, data } = part as Seen;
        events.push({ id, event, data });
        if (event === "metadata") runId = (data as { run_id: string }).run_id;
        if (events.length === 1 + chunks) await client.runs.cancel(thread_id, runId);
      }
      return { thread_id, created, events };
    },
    { apiUrl: server.url, apiKey: server.apiKey, chunks: STEPS },
  );

  const { thread_id, created, events } = seen;
  expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => String(index)));
  const metadata = events[0]?.data as { run_id: string };
  expect(metadata).toEqual({ run_id: expect.any(String), attempt: 1 });
  // The client reads the ids from Content-Location, which the page sees only because CORS exposes it.
  expect(created).toEqual({ thread_id, run_id: metadata.run_id });
  expect(events.slice(1, 1 + STEPS).map(({ data }) => data)).toEqual(
    Array.from({ length: STEPS }, (_, polls) => ({ polls })),
  );
});

test("a page reads the headers that clients need", async () => {
  const headers = await page.evaluate(
    async ({ apiUrl, apiKey }) => {
      const post = (path: string, body: object): Promise<Response> =>
        fetch(apiUrl + path, {
          method: "POST",
          headers: { "content-type": "application/json", "x-api-key": apiKey },
          body: JSON.stringify(body),
        });
      const thread: { thread_id: string } = await (await post("/threads", {})).json();
      await post("/threads", {});
      const found = await post("/threads/search", { limit: 1 });
      const run = await post(`/threads/${thread.thread_id}/runs/stream`, {
        assistant_id: "slow",
        input: { steps: 1, delay_ms: 1 },
      });
      await run.text();
      const names = ["x-pagination-total", "x-pagination-next", "location", "content-location"];
      const read = ({ headers }: Response): (string | null)[] =>
        names.map((name) => headers.get(name));
      return { thread_id: thread.thread_id, found: read(found), run: read(run) };
    },
    { apiUrl: server.url, apiKey: server.apiKey },
  );

  const [total, next] = headers.found;
  expect(Number(total)).toBeGreaterThanOrEqual(2);
  expect(next).toBe("1");
  const [, , location, contentLocation] = headers.run;
  expect(contentLocation).toMatch(new RegExp(`^/threads/${headers.thread_id}/runs/[0-9a-f-]{36}$`));
  expect(location).toBe(`${contentLocation}/stream`);
});

test("a stream whose connection breaks resumes where it was", async () => {
  let cut = 0;
  await page.exposeFunction("cutConnections", () => {
    cut += proxy.cut();
  });
  const ids = await page.evaluate(
    async ({ apiUrl, apiKey, input }) => {
      const { cutConnections } = globalThis as unknown as { cutConnections: () => Promise<void> };
      const client = new sdk.Client({ apiUrl, apiKey });
      const { thread_id } = await client.threads.create();
      const stream = client.runs.stream(thread_id, "slow", {
        input,
        streamMode: "updates",
        streamResumable: true,
      });
      const seen: (string | undefined)[] = [];
      for await (const { id } of stream) {
        seen.push(id);
        if (seen.length === 3) await cutConnections();
      }
      return seen;
    },
    { apiUrl: proxy.url, apiKey: server.apiKey, input: { steps: STEPS, delay_ms: STEP_MS } },
  );

  expect(cut).toBeGreaterThan(0);
  // The ids cover `metadata`, the node `begin`, and the steps.
  expect(ids).toEqual(Array.from({ length: STEPS + 2 }, (_, index) => String(index)));
});

test("a page without a key gets an error that it can read and that says why", async () => {
  const answer = await page.evaluate(async (apiUrl) => {
    const response = await fetch(`${apiUrl}/threads/search`, { method: "POST", body: "{}" });
    return { status: response.status, body: await response.json() };
  }, server.url);
  expect(answer).toEqual({ status: 401, body: { detail: expect.any(String) } });
});

test("the API reference shows every operation, and loads nothing from anywhere", async () => {
  const asked: string[] = [];
  const problems: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  const response = await page.goto(`${server.url}/docs/plain`);
  expect(page.url()).toBe(`${server.url}/docs`);
  const operations = await page.locator("summary .method").allTextContents();
  const { paths }: { paths: Record<string, object> } = await (
    await fetch(`${server.url}/openapi.json`)
  ).json();
  const policy = (await response?.headerValue("content-security-policy")) ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:/);
  expect(await page.title()).toMatch(/^Threadworks \d/);
  expect(operations).toHaveLength(
    Object.values(paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0),
  );
  // The style sheet is applied, and the script works.
  expect(await page.locator(".columns").evaluate((each) => getComputedStyle(each).display)).toBe(
    "grid",
  );
  await page.getByRole("searchbox").fill("runs/stream");
  const shown = page.locator("details:visible");
  expect(await shown.count()).toBeLessThan(5);
  const opened = shown.filter({ hasText: "/threads/{thread_id}/runs/stream" });
  await opened.locator("summary").click();
  await opened.getByText("assistant_id").first().waitFor();
  await opened.getByText("curl -X POST").waitFor();
  expect(asked.filter((url) => !/\/docs(\/plain)?$/.test(url))).toEqual([]);
  expect(problems).toEqual([]);
});
