import type { CreateRunRequest } from "./run-request.ts";
import type { Result } from "./failures.ts";

/** What commands have to know of a thread before they can be performed. */
export type ThreadView = {
  /** The assistant that the thread's runs are of; null before the first one. */
  assistant_id: string | null;
  /** The number of the last event before now. */
  applied_through_seq: number;
  /** Namespaces that have checkpoints. */
  namespaces: string[];
};

export type StartRunRequest = {
  run: CreateRunRequest;
  /** The interrupts that the run answers: each has to be pending, and answered by no other run. */
  answers: string[] | null;
  /** On a thread that waits for an answer, the input is the answer. */
  input_may_answer: boolean;
};

export type StartRunResult = Result<
  { run_id: string; applied_through_seq: number },
  | "thread_not_found"
  | "thread_exists"
  | "thread_busy"
  | "other_assistant"
  | "no_such_interrupt"
  | "no_such_checkpoint"
>;
