import { describe, test } from "vitest";
import { metadataOf, runWith } from "./support/otlp-requests.ts";

const EVENTS = [
  { "event.name": "gen_ai.system.message", role: "system", content: "be brief" },
  { "event.name": "gen_ai.user.message", role: "user", content: "hi" },
  {
    "event.name": "gen_ai.choice",
    index: 0,
    message: { role: "assistant", content: "hello" },
  },
];

describe("Logfire's attributes", () => {
  test("split events into inputs and the choice", ({ expect }) => {
    const run = runWith({ events: JSON.stringify([...EVENTS, "x"]) });
    expect(run.inputs).toEqual({
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "hi" },
      ],
    });
    expect(run.outputs).toEqual({ index: 0, message: { role: "assistant", content: "hello" } });
    expect(metadataOf(run)).toEqual({});
  });

  test("have the prompt and all messages of an agent", ({ expect }) => {
    const run = runWith({
      prompt: "hi",
      all_messages_events: JSON.stringify(EVENTS),
      final_result: "hello",
      events: "[]",
    });
    expect(run.inputs).toEqual({ input: "hi" });
    expect(run.outputs).toEqual({ output: EVENTS });
    expect(metadataOf(run)).toEqual({ final_result: "hello" });
  });

  test("are ignored if their events are not a list", ({ expect }) => {
    const run = runWith({ events: "many" });
    expect([run.inputs, run.outputs]).toEqual([undefined, undefined]);
  });
});
