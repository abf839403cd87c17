import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import { MemorySaver } from "@langchain/langgraph";
import { concatBytes } from "../../src/lib/bytes.ts";
import { answerThreads } from "./answer-threads.ts";
import {
  type BoundRun,
  boundRun,
  writeMetadata,
  ownEntrypoint,
  valuesOf,
  writeEvents,
} from "./bound-graph.ts";

// The least that any server of this design does for a thread and a run: an object with a SQLite database for each thread,
// a commit when a run begins and one when it ends, and the graph behind RPC. There are no keys, checks, assistants, queue,
// readers that come late, index, or traces. What the platform could gain at most is the distance to this.

type LeastEnv = { THREADS: DurableObjectNamespace<LeastThread> };

type Ended = { values: string; checkpoints: Uint8Array };

/** Runs the benchmark's graph, as the platform's graph host does: in an entrypoint that is called by RPC. */
export class LeastGraphs extends WorkerEntrypoint {
  async wait(input: string): Promise<Ended> {
    const { run, saver } = newRun(input);
    return { values: await valuesOf(run), checkpoints: checkpointsIn(saver) };
  }

  stream(input: string): ReadableStream<Uint8Array> {
    const { readable, writable } = new IdentityTransformStream();
    this.ctx.waitUntil(this.#write(input, writable.getWriter()));
    return readable;
  }

  async #write(input: string, to: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
    await writeEvents(newRun(input).run, to);
    await to.close();
  }
}

const THREAD = "run";

function newRun(input: string): { run: BoundRun; saver: MemorySaver } {
  const saver = new MemorySaver();
  const config = { configurable: { thread_id: THREAD } };
  return { run: boundRun(JSON.parse(input), saver, config), saver };
}

function checkpointsIn(saver: MemorySaver): Uint8Array {
  const stored = Object.values(saver.storage[THREAD]?.[""] ?? {});
  return concatBytes(stored.flatMap(([checkpoint, metadata]) => [checkpoint, metadata]));
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
    await writeMetadata(String(id), to);
    let last: Uint8Array = new Uint8Array();
    for await (const chunk of await this.#graphs().stream(input)) {
      last = chunk;
      await to.write(chunk);
    }
    this.#end(id, "", last);
    await to.close();
  }

  #graphs(): Service<LeastGraphs> {
    return ownEntrypoint<LeastGraphs>(this.ctx, "LeastGraphs");
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

export default {
  fetch: (request: Request, env: LeastEnv): Promise<Response> =>
    answerThreads(request, {
      create: async (id) => {
        await env.THREADS.getByName(id).create();
        return true;
      },
      wait: async (id, { input }) => env.THREADS.getByName(id).wait(JSON.stringify(input)),
      stream: async (id, { input }) => env.THREADS.getByName(id).stream(JSON.stringify(input)),
    }),
};
