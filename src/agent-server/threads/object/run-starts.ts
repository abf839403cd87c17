import type { StartRunRequest, StartRunResult, ThreadView } from "../contract/thread-commands.ts";
import type { Visibility } from "../../../lib/metadata-filter.ts";
import { ALL_THREADS, isVisible } from "../contract/thread-requests.ts";
import { lastSeqBefore } from "../protocol/event-cursor.ts";
import { answersOf } from "../protocol/thread-log.ts";
import type { ThreadRow } from "../storage/thread-record.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { ThreadRuns } from "./thread-runs.ts";

/** Name of the stored text that holds the assistant of the thread's first run that was started by a command. */
const ASSISTANT = "protocol-assistant";

type RunStartsDeps = {
  storage: ThreadStorage;
  runs: ThreadRuns;
  /** Returns the thread as the caller sees it; null if there is none. */
  wake: (filter: Visibility) => ThreadRow | null;
};

/** Starts the runs of commands. The preconditions of a run are checked in the same turn that creates it. */
export class RunStarts {
  readonly #deps: RunStartsDeps;

  constructor(deps: RunStartsDeps) {
    this.#deps = deps;
  }

  view(filter: Visibility): ThreadView | null {
    const thread = this.#deps.wake(filter);
    if (thread === null) return null;
    return {
      assistant_id: this.#assistant() ?? assistantOf(thread),
      applied_through_seq: this.lastSeq(),
      namespaces: this.#deps.storage.checkpoints.namespaces(),
    };
  }

  /** Returns the highest number that an event can have had so far. */
  lastSeq(): number {
    const { storage } = this.#deps;
    if (!storage.exists) return 0;
    const running = storage.runs.running();
    const place = storage.thread.get().next_seq;
    if (running === null || running.first_seq === null) return lastSeqBefore(place);
    return lastSeqBefore(running.first_seq + storage.log.nextId(running.seq));
  }

  async start(filter: Visibility, request: StartRunRequest): Promise<StartRunResult> {
    const { storage, runs, wake } = this.#deps;
    const thread = wake(ALL_THREADS);
    const appliedThrough = thread === null ? lastSeqBefore(1) : this.lastSeq();
    // If the caller may not see the thread, `create` answers, as for any other run.
    if (thread !== null && isVisible(thread, filter)) {
      const refused = this.#refusal(thread, request);
      if (refused !== null) return { ok: false, code: refused };
    }
    const created = await runs.create(filter, withAnswer(thread, storage, request));
    if (!created.ok) return created;
    if (this.#assistant() === null) {
      const { assistant_id } = request.run.assistant;
      storage.transaction(() => storage.texts.set(ASSISTANT, assistant_id));
    }
    const { run_id } = created.value.run;
    return { ok: true, value: { run_id, applied_through_seq: appliedThrough } };
  }

  #refusal(thread: ThreadRow, { run, answers }: StartRunRequest) {
    const { checkpoints } = this.#deps.storage;
    const bound = this.#assistant();
    if (bound !== null && bound !== run.assistant.assistant_id) return "other_assistant";
    const { checkpoint_id, checkpoint_ns = "" } = run.payload.checkpoint ?? {};
    if (checkpoint_id !== undefined && checkpoints.get(checkpoint_ns, checkpoint_id) === null) {
      return "no_such_checkpoint";
    }
    if (answers === null) return null;
    const open = this.#unanswered(thread);
    return answers.every((id) => open.has(id)) ? null : "no_such_interrupt";
  }

  #unanswered(thread: ThreadRow): Set<string> {
    const { storage } = this.#deps;
    const open = new Set(interruptsOf(thread));
    for (const run of storage.runs.inFlight()) {
      for (const id of answersOf(storage, run)) open.delete(id);
    }
    return open;
  }

  #assistant(): string | null {
    const { storage } = this.#deps;
    return storage.exists ? storage.texts.get(ASSISTANT) : null;
  }
}

/** Returns the run to create: if the thread waits for an answer and no run is in flight, its input is that answer. */
function withAnswer(
  thread: ThreadRow | null,
  { runs }: ThreadStorage,
  { run, input_may_answer }: StartRunRequest,
): StartRunRequest["run"] {
  const { input } = run.payload;
  if (thread === null || !input_may_answer || input === null) return run;
  if (interruptsOf(thread).length === 0 || runs.inFlight().length > 0) return run;
  return { ...run, payload: { ...run.payload, input: null, command: { resume: input } } };
}

function interruptsOf({ interrupts }: ThreadRow): string[] {
  const byTask: Record<string, { id?: string }[]> = JSON.parse(interrupts);
  return Object.values(byTask).flatMap((each) => each.flatMap(({ id }) => id ?? []));
}

function assistantOf({ metadata }: ThreadRow): string | null {
  const { assistant_id }: { assistant_id?: unknown } = JSON.parse(metadata);
  return typeof assistant_id === "string" ? assistant_id : null;
}
