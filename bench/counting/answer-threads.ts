/** The body of a request that starts a run. */
export type RunBody = { input: unknown; assistant_id: string };

/** The operations that the benchmark's client asks of a server. A run gets null when its server refuses it. */
export type Threads = {
  create: (threadId: string) => Promise<boolean>;
  /** Returns the run's last values as JSON text. */
  wait: (threadId: string, body: RunBody) => Promise<string | null>;
  /** Returns the run's server-sent events. */
  stream: (threadId: string, body: RunBody) => Promise<ReadableStream<Uint8Array> | null>;
};

/** Serves the paths of the agent server that the benchmark's client asks; any other path tells that it serves. */
export async function answerThreads(request: Request, threads: Threads): Promise<Response> {
  const [, first, id, , how] = new URL(request.url).pathname.split("/");
  if (request.method !== "POST" || first !== "threads") return Response.json({ ok: true });
  if (id === undefined) {
    const thread_id = crypto.randomUUID();
    return (await threads.create(thread_id)) ? Response.json({ thread_id }) : refusal();
  }
  const body = await request.json<RunBody>();
  if (how === "wait") return answer(await threads.wait(id, body), "application/json");
  return answer(await threads.stream(id, body), "text/event-stream");
}

function answer(body: BodyInit | null, type: string): Response {
  return body === null ? refusal() : new Response(body, { headers: { "content-type": type } });
}

function refusal(): Response {
  return new Response("Refused", { status: 403 });
}

/** Returns the text of one server-sent event. */
export function eventText(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}
