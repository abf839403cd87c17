import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { uuid7 } from "langsmith";
import { convertToDottedOrderFormat } from "langsmith/run_trees";
import { Prose } from "./prose.ts";
import type { Target } from "./replay.ts";

const RUNS_PER_TRACE = 10;
/** Number of texts that are used in turn: making a new one for each run would cost the client more than the server. */
const TEXTS = 50;

export type StreamedRuns = { project: string; runs: number; bytesPerRun: number };

/** Posts one multipart request with many runs as a stream of unknown length, and returns its bytes. */
export async function postStream({ url, headers }: Target, runs: StreamedRuns): Promise<number> {
  const boundary = "----bench-stream-of-runs";
  const sending = request(url, {
    method: "POST",
    headers: { ...headers, "content-type": `multipart/form-data; boundary=${boundary}` },
  });
  let bytes = 0;
  const source = Readable.from(countingBytes(runParts(boundary, runs), (size) => (bytes += size)));
  const answered = once(sending, "response") as Promise<[IncomingMessage]>;
  const [[response]] = await Promise.all([answered, pipeline(source, sending)]);
  const answer = await text(response);
  if (response.statusCode !== 202) {
    throw new Error(`${url} gave ${response.statusCode}: ${answer.slice(0, 1000)}`);
  }
  return bytes;
}

function* countingBytes(
  chunks: Iterable<Buffer>,
  count: (bytes: number) => void,
): Generator<Buffer> {
  for (const chunk of chunks) {
    count(chunk.byteLength);
    yield chunk;
  }
}

/** Yields one chunk for each run, and the end of the body. */
function* runParts(boundary: string, streamed: StreamedRuns): Generator<Buffer> {
  const { project, runs, bytesPerRun } = streamed;
  const prose = new Prose(1);
  const texts = Array.from({ length: TEXTS }, () => prose.text(bytesPerRun / 2));
  let trace = { id: "", order: "" };
  for (let index = 0; index < runs; index += 1) {
    const id = uuid7();
    const isRoot = index % RUNS_PER_TRACE === 0;
    const startedAt = Date.now();
    const own = convertToDottedOrderFormat(startedAt, id).dottedOrder;
    if (isRoot) trace = { id, order: own };
    const run = {
      id,
      trace_id: trace.id,
      ...(isRoot ? {} : { parent_run_id: trace.id }),
      dotted_order: isRoot ? own : `${trace.order}.${own}`,
      session_name: project,
      name: isRoot ? "summarize" : "read_page",
      run_type: isRoot ? "chain" : "tool",
      start_time: new Date(startedAt).toISOString(),
      end_time: new Date(startedAt + 20).toISOString(),
    };
    yield Buffer.from(
      [
        part(boundary, `post.${id}`, run),
        part(boundary, `post.${id}.inputs`, { page: index, text: texts[index % TEXTS] }),
        part(boundary, `post.${id}.outputs`, { summary: texts[(index + 7) % TEXTS] }),
      ].join(""),
    );
  }
  yield Buffer.from(`--${boundary}--\r\n`);
}

function part(boundary: string, name: string, value: unknown): string {
  const json = JSON.stringify(value);
  return [
    `--${boundary}`,
    `Content-Disposition: form-data; name="${name}"`,
    `Content-Type: application/json; length=${Buffer.byteLength(json)}`,
    "",
    `${json}\r\n`,
  ].join("\r\n");
}
