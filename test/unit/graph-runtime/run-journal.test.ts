import { describe, test, vi } from "vitest";
import type { CommitAck, RunBatch } from "../../../src/graph-runtime/protocol.ts";
import { RunJournal, SupersededError } from "../../../src/graph-runtime/run-journal.ts";

type Commit = { batch: RunBatch; acknowledge: (ack: CommitAck) => void };

function fixture(follow = true) {
  const commits: Commit[] = [];
  const superseded: SupersededError[] = [];
  const port = {
    commit: (batch: RunBatch): Promise<CommitAck> => {
      const { promise, resolve } = Promise.withResolvers<CommitAck>();
      commits.push({ batch, acknowledge: resolve });
      return promise;
    },
  };
  const journal = new RunJournal(port, {
    follow,
    onSuperseded: (reason) => superseded.push(reason),
  });
  const events = (index: number): string[] =>
    commits[index]?.batch.events.map(({ event }) => event) ?? [];
  return { commits, superseded, journal, events };
}

const event = (name: string, data = "{}") => ({ event: name, data });

describe("RunJournal", () => {
  test("sends output that arrives during a commit with the next one, in order", async ({
    expect,
  }) => {
    const { commits, journal, events } = fixture();
    journal.event(event("a"));
    await vi.waitUntil(() => commits.length === 1, 60_000);
    journal.event(event("b"));
    journal.event(event("c"));
    commits[0]?.acknowledge({ ok: true, follow: true });
    await vi.waitUntil(() => commits.length === 2, 60_000);
    expect([events(0), events(1)]).toEqual([["a"], ["b", "c"]]);
  });

  test("keeps the output of a short run for one last batch when nobody reads it", async ({
    expect,
  }) => {
    const { commits, journal } = fixture(false);
    journal.event(event("a"));
    journal.event(event("b"));
    const tail = await journal.close();
    expect(tail.events.map((item) => item.event)).toEqual(["a", "b"]);
    expect(commits).toEqual([]);
  });

  test("flush resolves only when earlier output is acknowledged", async ({ expect }) => {
    const { commits, journal } = fixture(false);
    journal.event(event("a"));
    let flushed = false;
    const flush = journal.flush().then(() => (flushed = true));
    await vi.waitUntil(() => commits.length === 1, 60_000);
    expect(flushed).toBe(false);
    commits[0]?.acknowledge({ ok: true, follow: false });
    await flush;
    expect(flushed).toBe(true);
  });

  test("makes the graph wait while too much is pending behind a commit", async ({ expect }) => {
    const { commits, journal } = fixture();
    const big = "x".repeat(2_000_000);
    journal.event(event("first", big));
    await vi.waitUntil(() => commits.length === 1, 60_000);
    journal.event(event("second", big));
    let relieved = false;
    const relief = journal.relief().then(() => (relieved = true));
    commits[0]?.acknowledge({ ok: true, follow: true });
    await vi.waitUntil(() => commits.length === 2, 60_000);
    expect(relieved).toBe(false);
    commits[1]?.acknowledge({ ok: true, follow: true });
    await relief;
  });

  test("splits output that is too large for one call, and refuses output that fits in none", async ({
    expect,
  }) => {
    const { commits, journal, events } = fixture(false);
    const big = "x".repeat(20 * 1024 * 1024);
    journal.event(event("a", big));
    journal.event(event("b", big));
    const flushed = journal.flush();
    for (const index of [0, 1]) {
      await vi.waitUntil(() => commits.length === index + 1, 60_000);
      commits[index]?.acknowledge({ ok: true, follow: false });
    }
    await flushed;
    expect([events(0), events(1)]).toEqual([["a"], ["b"]]);
    expect(() => journal.event(event("c", "x".repeat(25 * 1024 * 1024)))).toThrow("can be stored");
  });

  test("counts two bytes per character of a text with a character beyond Latin-1", async ({
    expect,
  }) => {
    const { journal } = fixture(false);
    const half = "x".repeat(13 * 1024 * 1024);
    journal.event(event("a", `${half}é`));
    expect(() => journal.event(event("b", `${half}ж`))).toThrow(
      "One value of 27262978 bytes was produced; at most 25165824 can be stored.",
    );
  });

  test("fails the run when the thread refuses its output, and accepts no more", async ({
    expect,
  }) => {
    const { commits, superseded, journal } = fixture();
    journal.event(event("a"));
    await vi.waitUntil(() => commits.length === 1, 60_000);
    commits[0]?.acknowledge({ ok: false, code: "superseded" });
    await vi.waitUntil(() => superseded.length === 1, 60_000);
    await expect(journal.flush()).rejects.toThrow(SupersededError);
    await expect(journal.close()).rejects.toThrow(SupersededError);
  });

  test("drops output that arrives after the end", async ({ expect }) => {
    const { commits, journal } = fixture();
    await journal.close();
    journal.event(event("late"));
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(commits).toEqual([]);
  });
});
