import { Client } from "@langchain/langgraph-sdk";
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Chat, Shown } from "./support/chat-app.ts";
import { SDK_PACKAGES, serveChatPages } from "./support/chat-page.ts";
import { ENDLESS, openPages, WITHIN } from "./support/opened-pages.ts";
import { startAgentServer } from "./support/start-agent-server.ts";

/** The global that the page's script defines, for the functions below that run in the page. */
declare const chat: Chat;

type Input = Parameters<Chat["submit"]>[0];
type SubmitOptions = Parameters<Chat["submit"]>[1];

const opened = openPages({ server: startAgentServer, pages: serveChatPages });
let client: Client;

beforeAll(() => {
  const { url, apiKey } = opened.server;
  client = new Client({ apiUrl: url, apiKey });
});

/** Opens the chat with a graph, built with the given version of the SDK. */
async function open(version: number, graph: string, settings: object = {}): Promise<void> {
  const query = { server: opened.server.url, key: opened.server.apiKey, graph, ...settings };
  await opened.page.goto(`${opened.pages.url}/${version}?${new URLSearchParams(query)}`);
  await vi.waitFor(async () => expect(await opened.page.locator("pre").count()).toBe(1), WITHIN);
}

async function shown(): Promise<Shown> {
  return JSON.parse((await opened.page.locator("pre").textContent()) ?? "") as Shown;
}

/** Waits until the page shows these values and no error, and returns all that it shows. */
async function showing(expected: Partial<Record<keyof Shown, unknown>>): Promise<Shown> {
  return vi.waitFor(async () => {
    const now = await shown();
    expect(now).toMatchObject({ errors: [], ...expected });
    return now;
  }, WITHIN);
}

/** Submits like a user's click, which does not wait: the page works on while the run does. */
async function submit(input: Input, options: SubmitOptions = {}): Promise<void> {
  await opened.page.evaluate(({ input, options }) => void chat.submit(input, options), {
    input,
    options,
  });
}

const lastStep = ({ texts }: Shown): number => Number(/\d+$/.exec(String(texts.at(-1)))?.[0] ?? 0);

/** Waits until the page's run has made `count` steps, and returns what the page shows. */
async function atStep(count: number): Promise<Shown> {
  return vi.waitFor(async () => {
    const now = await shown();
    expect(lastStep(now)).toBeGreaterThanOrEqual(count);
    return now;
  }, WITHIN);
}

async function statusesOf({ thread }: Shown): Promise<string[]> {
  return (await client.runs.list(String(thread))).map(({ status }) => status);
}

const human = (content: string) => ({ messages: [{ type: "human", content }] }) as Input;

describe.each(SDK_PACKAGES.map((name, version) => ({ name, version })))(
  "useStream of $name",
  ({ name, version }) => {
    // Its code is older than that of 1.15.0, although its number is 2.0.0.
    const isOld = name === "langgraph-sdk-2";

    test("streams the run of a submit", async () => {
      await open(version, "agent");
      await submit(human("hi"), { context: { token_delay_ms: 500 } });
      // A busy machine polls less often than tokens come, so any part of the answer will do.
      await showing({
        loading: true,
        texts: ["hi", expect.stringMatching(/^Let me( look)?( that)? ?$/)],
      });
      const { thread } = await showing({
        loading: false,
        texts: ["hi", "Let me look that up", "HI", "The answer is HI"],
      });
      const { values } = await client.threads.getState(String(thread));
      expect(values).toMatchObject({ messages: { length: 4 } });
    });

    test("continues to show its run when the page is reloaded", async () => {
      await open(version, "slow");
      await submit(ENDLESS.input, ENDLESS.options);
      const before = await atStep(3);
      await opened.page.reload();
      const after = await atStep(lastStep(before) + 3);
      expect(after).toMatchObject({ thread: before.thread, loading: true, errors: [] });
      expect(after.texts.slice(0, 3)).toEqual(["first step 1", "first step 2", "first step 3"]);
      expect(await statusesOf(after)).toEqual(["running"]);
      await opened.page.evaluate(() => chat.stop());
      await showing({ loading: false });
      await vi.waitFor(
        async () => expect(await statusesOf(after)).toEqual(["interrupted"]),
        WITHIN,
      );
    });

    // In older versions a submit waits for the one before, whatever its strategy.
    test.skipIf(isOld)("interrupts the running run by another submit", async () => {
      await open(version, "slow");
      await submit(ENDLESS.input, ENDLESS.options);
      const before = await atStep(2);
      const next = { label: "second", steps: 2, delay_ms: 50 };
      await submit(next, { multitaskStrategy: "interrupt" });
      await vi.waitFor(
        async () => expect(await statusesOf(before)).toEqual(["success", "interrupted"]),
        WITHIN,
      );
      await showing({ loading: false });
      // 1.10.2 reads the interrupted run once more, and shows that until the page is reloaded.
      if (name === "langgraph-sdk-1.10") await opened.page.reload();
      await vi.waitFor(async () => {
        const { texts } = await showing({ loading: false, thread: before.thread });
        expect(texts.slice(-2)).toEqual(["second step 1", "second step 2"]);
      }, WITHIN);
    });

    test("cancels the run when its page is left, on request", async () => {
      await open(version, "slow");
      const options = { ...ENDLESS.options, onDisconnect: "cancel" } as const;
      await submit(ENDLESS.input, options);
      const before = await atStep(2);
      await opened.page.close();
      await vi.waitFor(
        async () => expect(await statusesOf(before)).toEqual(["interrupted"]),
        WITHIN,
      );
    });

    test("shows interrupts, also of a reloaded page, and resumes", async () => {
      await open(version, "interrupts");
      await submit({ mode: "twice" });
      await showing({ loading: false, interrupt: { question: "first" } });
      await opened.page.reload();
      await showing({ interrupt: { question: "first" } });
      await submit(null, { command: { resume: "one" } });
      await showing({ loading: false, interrupt: { question: "second", first: "one" } });
      await submit(null, { command: { resume: "two" } });
      const { values } = await showing({ loading: false, interrupt: null });
      expect(values).toMatchObject({ answers: { first: "one", second: "two" }, finished: true });
    });

    test("keeps branches of a conversation, and shows each", async () => {
      await open(version, "agent");
      await submit(human("hi"));
      await showing({ loading: false, texts: { length: 4 }, branches: [] });
      await opened.page.evaluate(() => {
        const [message] = chat.messages;
        if (message === undefined) throw new Error("There is no message to edit");
        const checkpoint = chat.getMessagesMetadata(message)?.firstSeenState?.parent_checkpoint;
        const edited = { messages: [{ type: "human", content: "bye" }] } as Input;
        void chat.submit(edited, { checkpoint: checkpoint ?? null });
      });
      const texts = ["bye", "Let me look that up", "BYE", "The answer is BYE"];
      const { branches } = await vi.waitFor(async () => {
        const now = await showing({ loading: false, texts });
        expect(now.branches).toHaveLength(2);
        return now;
      }, WITHIN);
      await opened.page.evaluate((branch) => chat.setBranch(branch ?? ""), branches[0]);
      await showing({ texts: ["hi", "Let me look that up", "HI", "The answer is HI"], branches });
    });

    test.skipIf(isOld)("receives the events of tools", async () => {
      await open(version, "tools", { tools: "yes" });
      await submit(human("forecast Bern"));
      const call = { toolCallId: "call_forecast", name: "forecast" };
      await showing({
        loading: false,
        texts: ["forecast Bern", "", "It is sunny in Bern"],
        tools: [
          { event: "on_tool_start", ...call, input: '{"city":"Bern"}' },
          { event: "on_tool_event", ...call, data: { progress: "asking" } },
          { event: "on_tool_event", ...call, data: { progress: "reading" } },
          { event: "on_tool_end", ...call, output: expect.objectContaining({ type: "tool" }) },
        ],
      });
    });

    test("shows the error of a failed run", async () => {
      await open(version, "throws");
      await submit({ message: "no such luck" });
      await vi.waitFor(async () => {
        const { loading, errors } = await shown();
        // Older versions join the run once more, and get its error again.
        expect({ loading, errors: [...new Set(errors)] }).toEqual({
          loading: false,
          errors: ["FixtureError: no such luck"],
        });
      }, WITHIN);
    });
  },
);
