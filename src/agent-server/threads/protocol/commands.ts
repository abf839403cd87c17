import type { ConnectionCaller } from "./connection.ts";

export type CommandErrorCode =
  | "invalid_argument"
  | "unknown_command"
  | "unknown_error"
  | "no_such_run"
  | "no_such_subscription"
  | "no_such_namespace"
  | "no_such_interrupt"
  | "no_such_checkpoint"
  | "permission_denied"
  | "not_supported";

export type Command = { id: number; method: string; params: Record<string, unknown> };

export type CommandMeta = { thread_id: string; applied_through_seq?: number };

export type CommandAnswer =
  | { type: "success"; id: number; result: Record<string, unknown>; meta?: CommandMeta }
  | { type: "error"; id: number | null; error: CommandErrorCode; message: string };

/** The refusal of a command, with the protocol's error code. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly error: CommandErrorCode;

  constructor(error: CommandErrorCode, message: string) {
    super(message);
    this.error = error;
  }
}

export function errorAnswer(
  id: number | null,
  error: CommandErrorCode,
  message: string,
): CommandAnswer {
  return { type: "error", id, error, message };
}

/** Performs all commands except those about subscriptions, on behalf of the caller. */
export interface CommandPort {
  execute(caller: ConnectionCaller, threadId: string, command: Command): Promise<CommandAnswer>;
}
