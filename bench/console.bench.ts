import type { Page } from "playwright-core";
import { launchChromium } from "../test/browser/support/chromium.ts";
import { type ConsoleServer, startConsole } from "../test/browser/support/start-console.ts";
import { makeRun, type SampleRun } from "../test/support/sample-runs.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { firstTokenDelays, observeStreams } from "./console/first-token.ts";
import { longTasksWhileScrolling, observeLongTasks } from "./console/long-tasks.ts";
import { reportRatios } from "./support/report-ratios.ts";
import { inScratch } from "./support/scratch.ts";
import { median, p95, roundTo } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 8 * 60_000;
const ROWS = SMALL ? 300 : 10_000;
const SPANS = SMALL ? 100 : 1_000;
const CHATS = SMALL ? 2 : 20;
const BATCH = 1_000;
const VIEWPORT = { width: 1360, height: 850 };

/**
 * Measures the console in Chromium: the tasks that block it while it scrolls, and the delay of a
 * chat's first token.
 */
export async function run(): Promise<BenchResult> {
  return inScratch("console", TIME_LIMIT_MS, async (scratch) => {
    const server = await startConsole();
    scratch.track({ stop: server.close });
    const browser = await launchChromium();
    scratch.track({ stop: () => browser.close() });
    const page = await browser.newPage({ viewport: VIEWPORT });
    await observeLongTasks(page);
    await observeStreams(page);
    const { project, trace } = await store(server);
    await page.goto(`${server.url}/console/traces/${project}#key=${server.apiKey}`);
    await page.getByRole("row").nth(2).waitFor();
    const table = await longTasksWhileScrolling(page, page.getByRole("region", { name: "Runs" }), {
      last: page.getByText(`run ${ROWS - 1}`, { exact: true }),
    });
    await page.goto(`${server.url}/console/runs/${trace}`);
    await page.getByRole("option").nth(2).waitFor();
    const waterfall = await longTasksWhileScrolling(
      page,
      page.getByRole("listbox", { name: "Runs of the trace" }),
      { last: page.getByRole("option").filter({ hasText: `span ${SPANS - 1}` }) },
    );
    const delays = await chatDelays(page, server);
    printTable(
      ["while it scrolls", "tasks over 50 ms", "longest, ms"],
      [
        [`table of ${ROWS} runs`, String(table.length), String(longest(table))],
        [`trace of ${SPANS} spans`, String(waterfall.length), String(longest(waterfall))],
      ],
    );
    printTable(
      ["first token on the screen after it arrived, ms", "median", "95 %"],
      [["", String(roundTo(median(delays), 3)), String(roundTo(p95(delays), 3))]],
    );
    return reportRatios({
      table_long_tasks: [table.length, "0"],
      table_longest_ms: [longest(table)],
      trace_long_tasks: [waterfall.length, "0"],
      trace_longest_ms: [longest(waterfall)],
      first_token_ms: [median(delays), "<= 30"],
      first_token_p95_ms: [p95(delays)],
    });
  });
}

function longest(tasks: readonly number[]): number {
  return Math.max(0, ...tasks);
}

async function chatDelays(page: Page, server: ConsoleServer): Promise<number[]> {
  for (let chat = 0; chat < CHATS; chat += 1) {
    await page.goto(`${server.url}/console/agents`);
    await page.getByRole("link", { name: "Chat with agent", exact: true }).click();
    const field = page.getByRole("textbox", { name: "Message" });
    await field.fill(`Tell me what you can do, for the ${chat + 1}th time`);
    await field.press("Enter");
    await page.getByRole("button", { name: "Good" }).waitFor();
  }
  return firstTokenDelays(page);
}

/** Stores a project with many root runs and a trace with many spans. */
async function store(server: ConsoleServer): Promise<{ project: string; trace: string }> {
  const ended = { end_time: new Date().toISOString(), outputs: { output: "a text to be shown" } };
  const many = Array.from({ length: ROWS }, (_, index) =>
    makeRun(60_000 + index, { ...ended, name: `run ${index}`, inputs: { question: "why?" } }),
  );
  const root = makeRun(120_000, { ...ended, name: "root" });
  const spans = Array.from({ length: SPANS }, (_, index) =>
    makeRun(110_000 - index, { ...ended, name: `span ${index}`, run_type: "tool" }, root),
  );
  await send(server, "many", many);
  await send(server, "one", [root, ...spans]);
  const found = await fetch(`${server.url}/api/v1/sessions?name=many`, {
    headers: { "x-api-key": server.apiKey },
  });
  const [project] = (await found.json()) as { id: string }[];
  return { project: project?.id ?? "", trace: root.id };
}

async function send(
  server: ConsoleServer,
  project: string,
  runs: readonly SampleRun[],
): Promise<void> {
  for (let from = 0; from < runs.length; from += BATCH) {
    const post = runs
      .slice(from, from + BATCH)
      .map(({ body }) => Object.assign(body, { session_name: project }));
    const answer = await fetch(`${server.url}/api/v1/runs/batch`, {
      method: "POST",
      headers: { "x-api-key": server.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ post }),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }
}
