import { gzipSync } from "node:zlib";
import type { Browser, Page, Response } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makeRun, type SampleRun } from "../../support/sample-runs.ts";
import { launchChromium } from "../support/chromium.ts";
import {
  closeQuiet,
  type ConsolePage,
  expectAccessible,
  openConsole,
} from "../support/console-page.ts";
import { type ConsoleServer, startConsole } from "../support/start-console.ts";

const MOST_SCRIPT_BYTES = 300 * 1024;

/** Far more runs than a screen shows, and more than a page of the server has. */
const MANY = 10_000;
const BATCH = 1_000;
/** Maximum number of rows in the page: those in sight and some around them. */
const MOST_ROWS = 80;

/** Each part would run if it became HTML: the page would have such an element, and `hacked` would be set. */
const HOSTILE = `<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script><svg onload="globalThis.hacked=1">`;

let server: ConsoleServer;
let browser: Browser;
const opened: ConsolePage[] = [];

beforeAll(async () => {
  server = await startConsole();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});
afterEach(() => closeQuiet(opened.splice(0)));

async function open(path: string, signedIn = true): Promise<Page> {
  const consolePage = await openConsole(browser, server, { path, signedIn });
  opened.push(consolePage);
  return consolePage.page;
}

async function api(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { "x-api-key": server.apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** Stores runs, and returns the project's id. */
async function store(project: string, runs: readonly SampleRun[]): Promise<string> {
  for (let from = 0; from < runs.length; from += BATCH) {
    const post = runs.slice(from, from + BATCH).map(({ body }) => body);
    await api("POST", "/runs/batch", {
      post: post.map((run) => Object.assign(run, { session_name: project })),
    });
  }
  const [found] = (await api("GET", `/sessions?name=${project}`)) as { id: string }[];
  if (found === undefined) throw new Error(`There is no project ${project}`);
  return found.id;
}

const ENDED = { end_time: new Date().toISOString(), outputs: { output: "done" } };

test("a filter is checked while it is typed, applied, and kept in the address", async () => {
  const project = await store("filtered", [
    makeRun(3_000, { ...ENDED, name: "good run" }),
    makeRun(2_000, { ...ENDED, name: "bad run", error: "Broken: no such file" }),
  ]);
  const page = await open(`/traces/${project}`);
  await page.getByRole("row").filter({ hasText: "good run" }).waitFor();
  const field = page.getByRole("combobox", { name: "Filter" });
  await field.fill('eq(statos, "error")');
  await page
    .getByText(/status/)
    .first()
    .waitFor();
  await expectAccessible(page);
  // The field offers what may come next, by keyboard and by pointer.
  await field.fill("eq(sta");
  await page.getByRole("option", { name: /^status/ }).waitFor();
  await expectAccessible(page);
  await field.press("ArrowDown");
  await field.press("Enter");
  await expect.poll(() => field.inputValue()).toBe("eq(status, ");
  await page.getByRole("option", { name: /^error/ }).click();
  await expect.poll(() => field.inputValue()).toBe('eq(status, "error")');
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("row").filter({ hasText: "good run" }).waitFor({ state: "detached" });
  expect(new URL(page.url()).searchParams.get("filter")).toBe('eq(status, "error")');
  await page.reload();
  await page.getByRole("row").filter({ hasText: "Broken: no such file" }).waitFor();
  expect(await page.getByRole("row").count()).toBe(2);
  await page.getByRole("link", { name: "Traces" }).last().click();
  await page.getByRole("row").filter({ hasText: "filtered" }).waitFor();
  await expectAccessible(page);
});

test("a filter offers the names that runs have", async () => {
  const project = await store("completed", [makeRun(2_000, { ...ENDED, name: "an odd name" })]);
  const page = await open(`/traces/${project}`);
  const field = page.getByRole("combobox", { name: "Filter" });
  await field.fill("eq(name, ");
  await page.getByRole("option", { name: /^an odd name/ }).click();
  await field.press("Enter");
  await page.waitForURL(/filter=/);
  expect(new URL(page.url()).searchParams.get("filter")).toBe('eq(name, "an odd name")');
});

test("charts say in words what happened in an interval, and range and filter are kept in the address", async () => {
  const minute = 60_000;
  const start = Math.floor(Date.now() / minute) * minute - 4.5 * minute;
  const project = await store("charted", [
    makeRun(Date.now() - start, { ...ENDED, name: "good run" }),
    makeRun(Date.now() - start, { ...ENDED, name: "bad run", error: "Broken" }),
  ]);
  const page = await open(`/traces/${project}`);
  await page.getByRole("link", { name: "Charts" }).click();
  await page.getByRole("button", { name: "1 h", exact: true }).click();
  await page.getByRole("button", { name: "1 h", exact: true, pressed: true }).waitFor();
  await expectAccessible(page);
  const chart = page.getByRole("slider", { name: "Runs over time" });
  await chart.focus();
  const said: string[] = [];
  for (let step = 0; step < 10; step++) {
    await chart.press("ArrowLeft");
    said.push((await chart.getAttribute("aria-valuetext")) ?? "");
  }
  expect(said.filter((text) => text.endsWith("runs 2, errors 1"))).toHaveLength(1);
  expect(new URL(page.url()).searchParams.get("range")).toBe("1 h");
  await page.goto(`${page.url()}&filter=${encodeURIComponent('eq(status, "error")')}`);
  await expect
    .poll(async () => {
      await chart.press("ArrowLeft");
      return chart.getAttribute("aria-valuetext");
    })
    .toMatch(/runs 1, errors 1$/);
});

test("two runs are chosen and compared at an address that can be shared", async () => {
  const one = makeRun(9_000, { ...ENDED, name: "asked", inputs: { q: "why?", same: "yes" } });
  const other = makeRun(5_000, { ...ENDED, name: "asked", inputs: { q: "when?", same: "yes" } });
  await store("compared", [one, other, makeRun(1_000, { ...ENDED, name: "not asked" })]);
  const page = await open(`/runs/${one.id}`);
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  const choice = page.getByRole("list", { name: "Compare with" });
  await choice.getByRole("listitem").first().waitFor();
  expect(await choice.getByRole("listitem").count()).toBe(1);
  await expectAccessible(page);
  await choice.getByRole("link").click();
  await page.waitForURL(`**/compare/${one.id}/${other.id}`);
  const row = page.getByRole("row").filter({ hasText: "why?" });
  await row.filter({ hasText: "when?" }).waitFor();
  expect(await page.getByRole("rowheader", { name: "same", exact: true }).count()).toBe(0);
  await page.getByRole("button", { name: "Also what is the same" }).click();
  await page.getByRole("rowheader", { name: "same", exact: true }).waitFor();
  await expectAccessible(page);
});

test("nothing in a trace becomes HTML, on its own page or where it is shared", async () => {
  const root = makeRun(5_000, {
    ...ENDED,
    name: HOSTILE,
    error: HOSTILE,
    tags: [HOSTILE],
    inputs: { messages: [{ role: HOSTILE, content: HOSTILE }], [HOSTILE]: HOSTILE },
    outputs: { [HOSTILE]: [HOSTILE] },
    extra: { metadata: { [HOSTILE]: HOSTILE }, [HOSTILE]: HOSTILE },
    events: [{ name: HOSTILE, time: HOSTILE }],
  });
  const link = { role: "user", content: "[click](javascript:globalThis.hacked=1)" };
  const child = makeRun(4_000, { ...ENDED, name: HOSTILE, inputs: { messages: [link] } }, root);
  const project = await store("hostile", [root, child]);
  await api("POST", "/feedback", {
    run_id: root.id,
    key: "note",
    comment: HOSTILE,
    value: HOSTILE,
  });
  const { share_token } = (await api("PUT", `/runs/${root.id}/share`, {})) as {
    share_token: string;
  };

  const table = await open(`/traces/${project}`);
  await table.getByRole("row").nth(1).waitFor();
  await expectHarmless(table);
  const page = await open(`/runs/${root.id}`);
  await page.getByRole("option").nth(1).waitFor();
  await page.getByText("note").waitFor();
  await expectHarmless(page);
  await page.getByRole("button", { name: "As JSON" }).first().click();
  await expectHarmless(page);
  await page.getByRole("option").nth(1).click();
  await page.waitForURL(`**/runs/${child.id}`);
  await expectHarmless(page);
  const compared = await open(`/compare/${root.id}/${child.id}`);
  await compared.getByRole("rowheader").first().waitFor();
  await expectHarmless(compared);
  const shared = await open(`/shared/${share_token}`, false);
  await shared.getByRole("option").nth(1).waitFor();
  await expectHarmless(shared);
  await expectAccessible(shared);
});

/** Expects the text to be there as text, and nothing else. */
async function expectHarmless(page: Page): Promise<void> {
  await page.getByText("<img src=x onerror=").first().waitFor();
  const found = await page.evaluate(() => ({
    elements: document.querySelectorAll("img, [onerror], [onload], a[href^=javascript]").length,
    scripts: document.querySelectorAll("script:not([src])").length,
    hacked: "hacked" in globalThis,
  }));
  expect(found).toEqual({ elements: 0, scripts: 0, hacked: false });
}

test("a shared run opens without a key by the API's link, until it is no longer shared", async () => {
  const root = makeRun(2_000, { ...ENDED, name: "shared run", inputs: { question: "why?" } });
  await store("shared", [root]);
  const owner = await open(`/runs/${root.id}`);
  await owner.getByRole("button", { name: "Share" }).click();
  const href = await owner.getByRole("link", { name: "Public page" }).getAttribute("href");
  const token = href?.split("/").at(-1) ?? "";
  const reader = await browser.newContext();
  const page = await reader.newPage();
  await page.goto(`${server.url}/public/${token}/r`);
  await page.getByText("why?").waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/shared/${token}`);
  await owner.getByRole("button", { name: "Stop sharing" }).click();
  await owner.getByRole("button", { name: "Share", exact: true }).waitFor();
  await page.reload();
  await page.getByRole("alert").waitFor();
  expect(await page.getByText("why?").count()).toBe(0);
  await reader.close();
});

test("links of the official clients lead to the run and to its project", async () => {
  const root = makeRun(2_000, { ...ENDED, name: "linked run" });
  const project = await store("linked", [root]);
  const { app_path } = (await api("GET", `/runs/${root.id}`)) as { app_path: string };
  const page = await open("/agents");
  await page.goto(server.url + app_path);
  await page.getByRole("heading", { name: "linked run" }).first().waitFor();
  await page.goto(`${server.url}${app_path.split("/r/")[0]}`);
  await page.getByRole("row").filter({ hasText: "linked run" }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/traces/${project}`);
});

test(`of ${MANY} runs only those in sight are in the page, down to the last`, async () => {
  const runs = Array.from({ length: MANY }, (_, index) =>
    makeRun(60_000 + index, { ...ENDED, name: `run ${index}` }),
  );
  const project = await store("many", runs);
  const page = await open(`/traces/${project}`);
  await page.getByRole("row").filter({ hasText: "run 0" }).first().waitFor();
  const region = page.getByRole("region", { name: "Runs" });
  const counts: number[] = [];
  await expect
    .poll(async () => {
      await region.evaluate((element) => (element.scrollTop = element.scrollHeight));
      counts.push(await page.getByRole("row").count());
      return page.getByText(`run ${MANY - 1}`, { exact: true }).count();
    })
    .toBe(1);
  expect(Math.max(...counts)).toBeLessThan(MOST_ROWS);
});

test(`the first load is less than ${MOST_SCRIPT_BYTES} bytes of script, of its own files under a strict policy`, async () => {
  const page = await open("/agents", false);
  const responses: Response[] = [];
  page.on("response", (response) => responses.push(response));
  await page.goto(`${server.url}/console#key=${server.apiKey}`);
  await page.reload();
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  await page.waitForLoadState("networkidle");
  const scripts = responses.filter((response) => response.request().resourceType() === "script");
  const byUrl = new Map(scripts.map((response) => [response.url(), response]));
  const sizes = await Promise.all(
    [...byUrl.values()].map(async (response) => gzipSync(await response.body()).length),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeGreaterThan(50 * 1024);
  expect(total).toBeLessThan(MOST_SCRIPT_BYTES);
  expect(new Set(responses.map((response) => new URL(response.url()).origin))).toEqual(
    new Set([server.url]),
  );
  for (const response of byUrl.values()) {
    expect(await response.headerValue("cache-control")).toContain("immutable");
  }
  const document = responses.findLast(
    (response) => response.request().resourceType() === "document",
  );
  const policy = (await document?.headerValue("content-security-policy")) ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  expect(policy).not.toMatch(/https?:/);
});
