import "../../src/graph-runtime/async-context.ts";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { MemorySaver } from "@langchain/langgraph";
import { bindCheckpointer, type Graph } from "../../src/graph-runtime/graph-registry.ts";
import { toWireJson } from "../../src/graph-runtime/wire-json.ts";
import { graph } from "../graphs/agent.ts";
import { eventText } from "./answer-threads.ts";

const UTF_8 = new TextEncoder();

export type BoundRun = { graph: Graph; input: unknown; config: RunnableConfig };

/** Returns a run of the benchmark's graph with its own checkpointer. */
export function boundRun(input: unknown, saver: MemorySaver, config: RunnableConfig): BoundRun {
  return { graph: bindCheckpointer(graph, saver), input, config };
}

/** Runs to the end and returns the last values as JSON text. */
export async function valuesOf({ graph, input, config }: BoundRun): Promise<string> {
  return toWireJson(await graph.invoke(input, config));
}

/**
 * Runs to the end and writes the events, with the modes that the benchmark asks for. While one chunk is on its way, the
 * events that follow are gathered for the next. Returns the last values.
 */
export async function writeEvents(
  { graph, input, config }: BoundRun,
  to: WritableStreamDefaultWriter<Uint8Array>,
): Promise<string> {
  const streamMode: ("messages" | "values")[] = ["messages", "values"];
  let values = "{}";
  let gathered = "";
  let writing: Promise<void> | null = null;
  const writeGathered = async (): Promise<void> => {
    while (gathered !== "") {
      const chunk = UTF_8.encode(gathered);
      gathered = "";
      await to.write(chunk);
    }
    writing = null;
  };
  for await (const [mode, data] of await graph.stream(input, { ...config, streamMode })) {
    const text = toWireJson(data);
    if (mode === "values") values = text;
    gathered += eventText(mode, text);
    writing ??= writeGathered();
  }
  await writing;
  return values;
}

/**
 * Writes the event with which a stream begins: it names the run. Resolves in a later turn, so that the event has left
 * before the graph occupies the thread.
 */
export async function writeMetadata(
  runId: string,
  to: WritableStreamDefaultWriter<Uint8Array>,
): Promise<void> {
  await to.write(UTF_8.encode(eventText("metadata", JSON.stringify({ run_id: runId }))));
  await scheduler.wait(0);
}

/** Returns the Worker's own entrypoint of this name, which is reached by RPC. */
export function ownEntrypoint<T extends Rpc.WorkerEntrypointBranded>(
  { exports }: DurableObjectState,
  name: string,
): Service<T> {
  // The types of this repository's Worker do not have the entrypoints of the bounds.
  const entrypoints = exports as unknown as Record<string, (options: object) => Service<T>>;
  const entrypoint = entrypoints[name];
  if (entrypoint === undefined) throw new Error(`The Worker has no entrypoint ${name}`);
  return entrypoint({});
}
