export type TaskRefusalReason =
  | "task_not_found"
  | "task_not_cancelable"
  | "unsupported_operation"
  | "unsupported_content"
  | "invalid_params";

/** A refusal for which the A2A protocol has its own error. Other refusals are answered as on any other route. */
export class TaskRefusal extends Error {
  override readonly name = "TaskRefusal";
  readonly reason: TaskRefusalReason;

  constructor(reason: TaskRefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export function taskNotFound(): TaskRefusal {
  return new TaskRefusal("task_not_found", "Task not found");
}
