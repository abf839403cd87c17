import type { CreateRunRequest } from "./run-request.ts";
import type { Result } from "./failures.ts";

/** What commands need to know about a thread before they are performed. */
export type ThreadView = {
  /** The assistant of the thread's runs; null before the first run. */
  assistant_id: string | null;
  /** The number of the latest event so far. */
  applied_through_seq: number;
  /** Namespaces that have checkpoints. */
  namespaces: string[];
};

export type StartRunRequest = {
  run: CreateRunRequest;
  /** The interrupts that the run answers. Each must be pending, and not answered by another run. */
  answers: string[] | null;
  /** Whether the input is the answer if the thread waits for one. */
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
