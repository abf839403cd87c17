import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { bundleForBrowsers } from "./support/bundle.ts";
import { ENDLESS, openPages, WITHIN } from "./support/opened-pages.ts";
import { servePages } from "./support/page-server.ts";
import { startAgentServer } from "./support/start-agent-server.ts";
import type { ShownThread, Thread } from "./support/thread-app.ts";

/** The global that the page's script defines, for the functions below that run in the page. */
declare const thread: Thread;

type Input = Parameters<Thread["submit"]>[0];
type SubmitOptions = Parameters<Thread["submit"]>[1];

const opened = openPages({
  server: () => startAgentServer({ AGENT_AUTH: "none", AGENT_WORKSPACE_ID: randomUUID() }),
  pages: async () => {
    const app = resolve(import.meta.dirname, "support/thread-app.ts");
    return servePages(new Map([["thread", await bundleForBrowsers({ entryPoints: [app] })]]));
  },
});
let client: Client;

beforeAll(() => {
  client = new Client({ apiUrl: opened.server.url, apiKey: null });
});

async function open(transport: string, graph: string): Promise<void> {
  const query = new URLSearchParams({ server: opened.server.url, transport, graph });
  await opened.page.goto(`${opened.pages.url}/thread?${query}`);
  await vi.waitFor(async () => expect(await opened.page.locator("pre").count()).toBe(1), WITHIN);
}

async function shown(): Promise<ShownThread> {
  return JSON.parse((await opened.page.locator("pre").textContent()) ?? "") as ShownThread;
}

/** Waits until the page shows these values and no error, and returns all that it shows. */
async function showing(
  expected: Partial<Record<keyof ShownThread, unknown>>,
): Promise<ShownThread> {
  return vi.waitFor(async () => {
    const now = await shown();
    expect(now).toMatchObject({ error: null, ...expected });
    return now;
  }, WITHIN);
}

/** Submits like a user's click, which does not wait: the page works on while the run does. */
async function submit(input: Input, options: SubmitOptions = {}): Promise<void> {
  await opened.page.evaluate(({ input, options }) => void thread.submit(input, options), {
    input,
    options,
  });
}

const stepOf = ({ values }: ShownThread): number => Number(values["done"] ?? 0);

/** Waits until the page's run has made `count` steps, and returns what the page shows. */
async function atStep(count: number): Promise<ShownThread> {
  return vi.waitFor(async () => {
    const now = await shown();
    expect(stepOf(now)).toBeGreaterThanOrEqual(count);
    return now;
  }, WITHIN);
}

async function statusesOf({ thread: id }: ShownThread): Promise<string[]> {
  return (await client.runs.list(String(id))).map(({ status }) => status);
}

const human = (content: string) => ({ messages: [{ type: "human", content }] });

describe.each(["sse", "websocket"])("useStream of @langchain/react by %s", (transport) => {
  test("streams what a submit starts", async () => {
    // The delay is long enough that the page shows each token, even on a busy machine.
    const context = { token_delay_ms: 300 };
    const { assistant_id } = await client.assistants.create({ graphId: "agent", context });
    await open(transport, assistant_id);
    await submit(human("hi"));
    const { thread: id, pieces } = await showing({
      loading: false,
      texts: ["hi", "Let me look that up", "HI", "The answer is HI"],
    });
    expect(pieces).toContain("Let me ");
    const { values } = await client.threads.getState(String(id));
    expect(values).toMatchObject({ messages: { length: 4 } });
  });

  test("continues to show its run when the page is reloaded", async () => {
    await open(transport, "slow");
    await submit(ENDLESS.input, ENDLESS.options);
    const before = await atStep(3);
    await opened.page.reload();
    await atStep(stepOf(before) + 3);
    const after = await showing({ thread: before.thread, loading: true });
    expect(after.texts.slice(0, 3)).toEqual(["first step 1", "first step 2", "first step 3"]);
    expect(await statusesOf(after)).toEqual(["running"]);
    // A reloaded page does not know the run's id, which its own way to stop the run needs.
    const [run] = await client.runs.list(String(after.thread));
    await client.runs.cancel(String(after.thread), run?.run_id ?? "");
    await showing({ loading: false });
  });

  test("shows interrupts, also of a reloaded page, and resumes", async () => {
    await open(transport, "interrupts");
    await submit({ mode: "twice" });
    await showing({ loading: false, interrupt: { question: "first" } });
    await opened.page.reload();
    await showing({ interrupt: { question: "first" } });
    // The page shows it as soon as it knows the state, before its stream has reported it.
    await opened.page.waitForFunction(() => (thread.getThread()?.interrupts.length ?? 0) > 0);
    await opened.page.evaluate(() =>
      thread.respond("one", { interruptId: String(thread.interrupt?.id) }),
    );
    await showing({ loading: false, interrupt: { question: "second", first: "one" } });
    await opened.page.evaluate(() =>
      thread.respond("two", { interruptId: String(thread.interrupt?.id) }),
    );
    const { values } = await showing({
      loading: false,
      interrupt: null,
      values: { finished: true },
    });
    expect(values).toMatchObject({ answers: { first: "one", second: "two" } });
  });

  test("forks a conversation from an earlier checkpoint", async () => {
    await open(transport, "agent");
    await submit(human("hi"));
    const texts = (word: string) => {
      return [
        word,
        "Let me look that up",
        word.toUpperCase(),
        `The answer is ${word.toUpperCase()}`,
      ];
    };
    const before = await showing({
      loading: false,
      texts: texts("hi"),
      beforeFirst: expect.any(String),
    });
    await submit(human("bye"), { forkFrom: String(before.beforeFirst) });
    const { thread: id } = await showing({ loading: false, texts: texts("bye") });
    expect(id).toBe(before.thread);
    const history = await client.threads.getHistory(String(id), { limit: 100 });
    const forked = history.map(({ parent_checkpoint }) => parent_checkpoint?.checkpoint_id);
    expect(forked.filter((parent) => parent === before.beforeFirst)).toHaveLength(2);
  });

  test("receives the events of tools", async () => {
    await open(transport, "tools");
    await submit(human("forecast Bern"));
    // Messages and tools come by separate subscriptions, either of which may be ahead.
    await showing({
      loading: false,
      tools: [{ name: "forecast", input: { city: "Bern" }, output: "It is sunny in Bern" }],
      texts: expect.arrayContaining(["It is sunny in Bern"]),
    });
  });

  test("shows the error of a failed run", async () => {
    await open(transport, "throws");
    await submit({ message: "no such luck" });
    await showing({ loading: false, error: expect.stringContaining("no such luck") });
  });
});
