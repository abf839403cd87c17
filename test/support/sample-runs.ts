import type { TracingWorkspace } from "./tracing.ts";

export type SampleRun = {
  id: string;
  order: string;
  traceId: string;
  /** The body that creates the run. */
  body: Record<string, unknown>;
};

/** Returns a run that started `agoMs` milliseconds ago. */
export function makeRun(
  agoMs: number,
  members: Record<string, unknown>,
  parent?: SampleRun,
): SampleRun {
  const id = crypto.randomUUID();
  const time = new Date(Date.now() - agoMs).toISOString();
  const segment = `${time.replaceAll(/[-:.]/g, "").slice(0, -1)}000Z${id}`;
  const order = parent === undefined ? segment : `${parent.order}.${segment}`;
  const traceId = parent?.traceId ?? id;
  const body = {
    id,
    trace_id: traceId,
    dotted_order: order,
    ...(parent === undefined ? {} : { parent_run_id: parent.id }),
    name: "run",
    run_type: "chain",
    start_time: time,
    ...members,
  };
  return { id, order, traceId, body };
}

/** Stores the runs in a project with this name, and returns the project's id. */
export async function storeRuns(
  { api, client }: TracingWorkspace,
  name: string,
  runs: SampleRun[],
) {
  const post = runs.map(({ body }) => ({ ...body, session_name: name }));
  const response = await api("POST", "/runs/batch", { post });
  if (response.status !== 202) throw new Error(await response.text());
  return (await client.readProject({ projectName: name })).id;
}

/** Returns the time `ms` milliseconds after the run's start. */
export function after({ body }: SampleRun, ms: number): string {
  return new Date(Date.parse(String(body["start_time"])) + ms).toISOString();
}

export function ended(
  run: SampleRun,
  ms: number,
  members: Record<string, unknown> = {},
): SampleRun {
  return { ...run, body: { ...run.body, end_time: after(run, ms), ...members } };
}

/** Returns a root with a model's run and a failed tool's run below it. */
export function makeTrace(agoMs: number, metadata: Record<string, unknown> = {}) {
  const extra = { metadata };
  const agent = { name: "agent", inputs: { question: "weather?" }, tags: ["beta"], extra };
  const root = ended(makeRun(agoMs, agent), 2000, { outputs: { answer: "sunny" } });
  const model = makeRun(agoMs - 100, { name: "model", run_type: "llm", extra }, root);
  const tool = makeRun(agoMs - 1200, { name: "search", run_type: "tool", extra }, root);
  const usage_metadata = {
    input_tokens: 20,
    output_tokens: 10,
    total_tokens: 30,
    input_token_details: { cache_read: 5 },
    input_cost: 0.000035,
    output_cost: 0.00003,
    total_cost: 0.000065,
  };
  return {
    root,
    model: ended(model, 1000, {
      outputs: { text: "sunny", usage_metadata },
      events: [{ name: "new_token", time: after(model, 250) }],
    }),
    tool: ended(tool, 100, { error: "no network" }),
  };
}

export function micros(time: unknown): string {
  return String(time).replace("Z", "000Z");
}
