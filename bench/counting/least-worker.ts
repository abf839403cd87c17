import "../../src/graph-runtime/async-context.ts";
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import { MemorySaver } from "@langchain/langgraph";
import { bindCheckpointer } from "../../src/graph-runtime/graph-registry.ts";
import { toWireJson } from "../../src/graph-runtime/wire-json.ts";
import { graph } from "../graphs/agent.ts";

// The least that any server of this design does for a thread and a run: an object with a SQLite database for each thread,
// a commit when a run begins and one when it ends, and the graph behind RPC. There are no keys, checks, assistants, queue,
// readers that come late, index, or traces. What the platform could gain at most is the distance to this.

type LeastEnv = { THREADS: DurableObjectNamespace<LeastThread> };

type LoopbackEntrypoint = (options: object) => Service<LeastGraphs>;

type Ended = { values: string; checkpoints: Uint8Array };

const UTF_8 = new TextEncoder();

/** Runs the benchmark's graph, as the platform's graph host does: in an entrypoint that is called by RPC. */
export class LeastGraphs extends WorkerEntrypoint {
  async wait(input: string): Promise<Ended> {
    const run = newRun();
    const values: unknown = await run.graph.invoke(JSON.parse(input), run.config);
    return { values: toWireJson(values), checkpoints: run.checkpoints() };
  }

  stream(input: string): ReadableStream<Uint8Array> {
    const { readable, writable } = new IdentityTransformStream();
    this.ctx.waitUntil(this.#write(input, writable.getWriter()));
    return readable;
  }

  async #write(input: string, to: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
    for await (const text of eventsOf(newRun(), input)) await to.write(UTF_8.encode(text));
    await to.close();
  }
}

type LeastRun = ReturnType<typeof newRun>;

function newRun() {
  const saver = new MemorySaver();
  return {
    graph: bindCheckpointer(graph, saver),
    config: { configurable: { thread_id: "run" } },
    checkpoints: (): Uint8Array => {
      const stored = Object.values(saver.storage["run"]?.[""] ?? {});
      return concatenated(stored.flatMap(([checkpoint, metadata]) => [checkpoint, metadata]));
    },
  };
}

async function* eventsOf(run: LeastRun, input: string): AsyncGenerator<string> {
  const streamMode: ("messages" | "values")[] = ["messages", "values"];
  const items = await run.graph.stream(JSON.parse(input), { ...run.config, streamMode });
  for await (const [mode, data] of items) yield eventText(mode, toWireJson(data));
}

function eventText(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

/** A thread with its runs, each of which is one row. */
export class LeastThread extends DurableObject<LeastEnv> {
  create(): void {
    const { sql } = this.ctx.storage;
    sql.exec(
      "CREATE TABLE runs (id INTEGER PRIMARY KEY, input TEXT, output TEXT, checkpoints BLOB)",
    );
  }

  async wait(input: string): Promise<string> {
    const id = this.#begin(input);
    const { values, checkpoints } = await this.#graphs().wait(input);
    this.#end(id, values, checkpoints);
    return values;
  }

  /** Streams events that are not stored: only the run's last text is. The first event is sent at once. */
  async stream(input: string): Promise<ReadableStream<Uint8Array>> {
    const id = this.#begin(input);
    const { readable, writable } = new IdentityTransformStream();
    this.ctx.waitUntil(this.#follow(id, input, writable.getWriter()));
    return readable;
  }

  async #follow(
    id: number,
    input: string,
    to: WritableStreamDefaultWriter<Uint8Array>,
  ): Promise<void> {
    let last = UTF_8.encode(eventText("metadata", JSON.stringify({ run_id: String(id) })));
    await to.write(last);
    for await (const chunk of await this.#graphs().stream(input)) {
      last = chunk;
      await to.write(chunk);
    }
    this.#end(id, "", last);
    await to.close();
  }

  #graphs(): Service<LeastGraphs> {
    // The types of this repository's Worker do not have the entrypoints of this one.
    const exports = this.ctx.exports as unknown as { LeastGraphs: LoopbackEntrypoint };
    return exports.LeastGraphs({});
  }

  #begin(input: string): number {
    const { sql } = this.ctx.storage;
    return Number(sql.exec("INSERT INTO runs (input) VALUES (?) RETURNING id", input).one()["id"]);
  }

  #end(id: number, output: string, checkpoints: Uint8Array): void {
    const { sql } = this.ctx.storage;
    sql.exec("UPDATE runs SET output = ?, checkpoints = ? WHERE id = ?", output, checkpoints, id);
  }
}

/** Serves the paths of the agent server that the benchmark's client asks. */
export default {
  async fetch(request: Request, env: LeastEnv): Promise<Response> {
    const [, threads, id, , how] = new URL(request.url).pathname.split("/");
    if (request.method !== "POST" || threads !== "threads") return Response.json({ ok: true });
    if (id === undefined) {
      const thread_id = crypto.randomUUID();
      await env.THREADS.getByName(thread_id).create();
      return Response.json({ thread_id });
    }
    const { input } = await request.json<{ input: unknown }>();
    const thread = env.THREADS.getByName(id);
    if (how === "wait") {
      const values = await thread.wait(JSON.stringify(input));
      return new Response(values, { headers: { "content-type": "application/json" } });
    }
    const events = await thread.stream(JSON.stringify(input));
    return new Response(events, { headers: { "content-type": "text/event-stream" } });
  },
};
