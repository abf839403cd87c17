import { DurableObject } from "cloudflare:workers";
import { messageOf } from "../../../lib/error-text.ts";
import { isObject } from "../../../lib/json.ts";
import type { Scope } from "../../../lib/scope.ts";
import { recordRuns, type TraceOperations } from "../../../tracing/record.ts";
import { deploymentName } from "../../deployment-name.ts";
import type { SentBatch } from "./run-traces.ts";

/** Milliseconds that batches wait for those of other runs. The answers of their runs go first, too. */
const GATHER_MS = 100;

/** Limits on the batches that are recorded together. */
const MAX_TOGETHER = 100;
const MAX_CHARS_TOGETHER = 2 * 1024 * 1024;

/** Maximum characters of all batches that wait or are being recorded. */
const MAX_HELD_CHARS = 32 * 1024 * 1024;

/** `endsRun` is whether the batch contained the end of the run's root. */
export type RecordResult = { ok: true; endsRun: boolean } | { ok: false; error: string };

type Waiting = SentBatch & { done: (result: RecordResult) => void };

type ParsedBatch = { operations: TraceOperations; from: Waiting };

/**
 * Records the traces of a scope's runs, those of a tenth of a second together: the index of runs and the shards are
 * then called once for many runs. It stores nothing. A batch is in the memory of its thread, too, until it is
 * recorded, and the thread sends it again after a failure.
 */
export class TraceRecorderObject extends DurableObject<Env> {
  #waiting: Waiting[] = [];
  #heldChars = 0;
  #isRecording = false;

  /** Resolves when the batch is recorded, or cannot be. A deployment that no longer exists records nothing. */
  async record(scope: Scope, batch: SentBatch): Promise<RecordResult> {
    if (this.#heldChars + batch.json.length > MAX_HELD_CHARS) {
      return failed("too much is waiting to be recorded");
    }
    const { promise, resolve } = Promise.withResolvers<RecordResult>();
    this.#waiting.push({ ...batch, done: resolve });
    this.#heldChars += batch.json.length;
    if (!this.#isRecording) void this.#recordAll(scope);
    return promise;
  }

  /** All batches of an object belong to one scope. */
  async #recordAll(scope: Scope): Promise<void> {
    this.#isRecording = true;
    while (this.#waiting.length > 0) {
      if (!this.#isFull()) await sleep(GATHER_MS);
      const batches = this.#take();
      await this.#recordTogether(scope, batches).catch((error: unknown) => {
        for (const { done } of batches) done(failed(error));
      });
      this.#heldChars -= charsOf(batches);
    }
    this.#isRecording = false;
  }

  /** Whether more is waiting than is recorded together, so that waiting for even more would only delay it. */
  #isFull(): boolean {
    return this.#waiting.length > MAX_TOGETHER || charsOf(this.#waiting) > MAX_CHARS_TOGETHER;
  }

  /** Removes and returns the oldest batches: at least one, however large. */
  #take(): Waiting[] {
    let count = 0;
    let chars = 0;
    for (const { json } of this.#waiting.slice(0, MAX_TOGETHER)) {
      chars += json.length;
      if (count > 0 && chars > MAX_CHARS_TOGETHER) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #recordTogether(scope: Scope, batches: readonly Waiting[]): Promise<void> {
    const own = await deploymentName(this.env.DB, scope);
    const ofProject = new Map<string, ParsedBatch[]>();
    for (const from of batches) {
      try {
        const operations = ofExample(JSON.parse(from.json), from);
        const project = from.project ?? own;
        if (own === null || project === null) {
          from.done(recorded(operations, from));
          continue;
        }
        const group = ofProject.get(project) ?? [];
        ofProject.set(project, group);
        group.push({ operations, from });
      } catch (error) {
        from.done(failed(error));
      }
    }
    for (const [project, group] of ofProject) await this.#recordGroup(scope, project, group);
  }

  async #recordGroup(scope: Scope, project: string, group: readonly ParsedBatch[]): Promise<void> {
    try {
      const batches = group.map(({ operations }) => operations);
      const problems = await recordRuns(this.env, scope.workspaceId, project, batches);
      for (const [index, { operations, from }] of group.entries()) {
        const problem = problems[index] ?? null;
        from.done(problem === null ? recorded(operations, from) : failed(problem));
      }
    } catch (error) {
      if (group.length === 1) for (const { from } of group) from.done(failed(error));
      // One batch may be the cause of it, and must not be that of the others' loss.
      else for (const each of group) await this.#recordGroup(scope, project, [each]);
    }
  }
}

/** Adds the example's id to the root run, if the run belongs to an example. */
function ofExample(
  { post, patch }: TraceOperations,
  { run_id, example_id }: SentBatch,
): TraceOperations {
  if (example_id === null) return { post, patch };
  const named = post.map((run) =>
    isObject(run) && run["id"] === run_id ? { ...run, reference_example_id: example_id } : run,
  );
  return { post: named, patch };
}

function charsOf(batches: readonly SentBatch[]): number {
  return batches.reduce((chars, { json }) => chars + json.length, 0);
}

function recorded({ post, patch }: TraceOperations, { run_id }: SentBatch): RecordResult {
  const endsRun = [...post, ...patch].some(
    (run) => isObject(run) && run["id"] === run_id && Boolean(run["end_time"]),
  );
  return { ok: true, endsRun };
}

function failed(reason: unknown): RecordResult {
  return { ok: false, error: messageOf(reason) };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
