import { describe } from "vitest";
import { a2a, connectA2a, connectOlderA2a } from "../support/a2a-clients.ts";
import { data, message, part, partsOf, taskOf } from "../support/a2a-messages.ts";
import { testInWorkspace } from "../support/shared-server.ts";

const test = testInWorkspace();

const BYTES = Buffer.from("the bytes of a file");

const BASE64 = BYTES.toString("base64");

const TEXT = part({ $case: "text", value: "Look at these" });

/** The content of a message as the graph "files" reports it. */
type Received = { received: unknown };

describe("files in a message", () => {
  test("reach the graph as blocks of its message, beside the text", async ({
    server,
    client,
    expect,
  }) => {
    const agent = await connectA2a(server, "files");
    const image = { mediaType: "image/png", filename: "a.png" };
    const task = taskOf(
      await agent.sendMessage(
        message([
          TEXT,
          part({ $case: "raw", value: BYTES }, image),
          part({ $case: "url", value: "https://example.com/a.mp3" }, { mediaType: "audio/mpeg" }),
          part({ $case: "url", value: "https://example.com/a" }),
        ]),
      ),
    );
    const { values } = await client.threads.getState<Received>(task.contextId);
    expect(values.received).toEqual([
      { type: "text", text: "Look at these" },
      {
        type: "image",
        source_type: "base64",
        mime_type: "image/png",
        data: BASE64,
        metadata: { filename: "a.png" },
      },
      {
        type: "audio",
        source_type: "url",
        mime_type: "audio/mpeg",
        url: "https://example.com/a.mp3",
      },
      {
        type: "file",
        source_type: "url",
        mime_type: "application/octet-stream",
        url: "https://example.com/a",
      },
    ]);
    const [sent] = task.history;
    expect(sent?.parts).toEqual([
      TEXT,
      part({ $case: "raw", value: BYTES }, image),
      part({ $case: "url", value: "https://example.com/a.mp3" }, { mediaType: "audio/mpeg" }),
      part(
        { $case: "url", value: "https://example.com/a" },
        { mediaType: "application/octet-stream" },
      ),
    ]);
  });

  test("may be sent by a client of version 0.3, without any text", async ({
    server,
    client,
    expect,
  }) => {
    const agent = await connectOlderA2a(server, "files");
    const file = { bytes: BASE64, mimeType: "application/pdf", name: "a.pdf" };
    const task = await agent.sendMessage({
      message: {
        kind: "message",
        messageId: "m",
        role: "user",
        parts: [{ kind: "file", file }],
      },
    });
    if (task.kind !== "task") throw new Error("The answer is a message");
    const { values } = await client.threads.getState<Received>(task.contextId);
    expect(values.received).toEqual([
      {
        type: "file",
        source_type: "base64",
        mime_type: "application/pdf",
        data: BASE64,
        metadata: { filename: "a.pdf" },
      },
    ]);
    expect(task.history?.[0]?.parts).toEqual([{ kind: "file", file }]);
  });

  test("are refused by a graph without messages, and as an answer", async ({ server, expect }) => {
    const refused = { name: "ContentTypeNotSupportedError" };
    const file = part({ $case: "raw", value: BYTES });
    const agent = await connectA2a(server, "zod_state");
    await expect(agent.sendMessage(message([file]))).rejects.toMatchObject(refused);
    const asking = await connectA2a(server, "interrupts");
    const { id } = taskOf(await asking.sendMessage(data({})));
    const answer = message([file], { taskId: id });
    await expect(asking.sendMessage(answer)).rejects.toMatchObject(refused);
  });

  test("must have either bytes or an address", async ({ server, expect }) => {
    const sent = { messageId: "m", role: "user" };
    for (const file of [{}, { bytes: null }, { bytes: "%" }, { bytes: 7 }, { uri: 7 }]) {
      const params = { message: { ...sent, parts: [{ kind: "file", file }] } };
      const { body } = await a2a(server, "files", "message/send", params);
      expect([file, body]).toMatchObject([file, { error: { code: -32602 } }]);
    }
    const parts = [{ kind: "file", file: { bytes: null, uri: "https://example.com/a" } }];
    const params = { message: { ...sent, parts } };
    expect(await a2a(server, "files", "message/send", params)).toMatchObject({
      body: { result: { status: { state: "completed" } } },
    });
  });
});

describe("files in an answer", () => {
  test("are parts of the task's artifact, also in a stream", async ({ server, expect }) => {
    const agent = await connectA2a(server, "files");
    const task = taskOf(await agent.sendMessage(message([TEXT])));
    const [first, inline, fromUrl, linked] = partsOf(task);
    expect([first, linked]).toEqual(["Here they are", "https://example.com/a.csv"]);
    expect(inline).toEqual(expect.any(Buffer));
    expect(fromUrl).toEqual(inline);
    const types = task.artifacts[0]?.parts.map(({ mediaType }) => mediaType);
    expect(types).toEqual(["", "image/png", "image/png", "text/csv"]);
    const artifacts: unknown[] = [];
    for await (const { payload } of agent.sendMessageStream(message([TEXT]))) {
      if (payload?.$case === "artifactUpdate") artifacts.push(payload.value.artifact?.parts);
    }
    expect(artifacts.at(-1)).toEqual(task.artifacts[0]?.parts);
  });
});
