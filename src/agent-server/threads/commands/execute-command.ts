import { ApiError, ProjectRefusal } from "../../../lib/api-error.ts";
import type { NoteUnknown } from "../../../lib/unknown-members.ts";
import type { AgentCall } from "../../agent-call.ts";
import {
  type Command,
  type CommandAnswer,
  CommandError,
  type CommandMeta,
  type CommandPort,
  errorAnswer,
  type CommandErrorCode,
} from "../protocol/commands.ts";
import { forkState, respondToInput, startCommandRun } from "./run-commands.ts";
import { getState, getTree, listCheckpoints } from "./state-commands.ts";
import { WorkerEntrypoint } from "cloudflare:workers";
import type { ConnectionCaller } from "../protocol/connection.ts";

/** The context of a command: the caller and the thread. */
export type CommandContext = {
  call: AgentCall;
  threadId: string;
  /** Called with members of the params that have no effect. */
  note?: NoteUnknown;
};

type Performed = { result: Record<string, unknown>; applied_through_seq?: number };

type Perform = (context: CommandContext, params: Command["params"]) => Promise<Performed>;

const COMMANDS: Record<string, Perform> = {
  "run.start": startCommandRun,
  "input.respond": respondToInput,
  "input.inject": () =>
    refuse(
      "A running graph takes no input from outside: start a run with run.start, which is queued if its multitask_strategy is enqueue",
    ),
  "state.get": getState,
  "state.listCheckpoints": listCheckpoints,
  "state.fork": forkState,
  "agent.getTree": getTree,
  "subscription.subscribe": () => refuse(ONLY_BY_SOCKET),
  "subscription.unsubscribe": () => refuse(ONLY_BY_SOCKET),
  "subscription.reconnect": () => refuse(ONLY_BY_SOCKET),
};

const ONLY_BY_SOCKET =
  "Subscriptions require a WebSocket: over HTTP, POST the channels to /threads/{thread_id}/stream/events";

/**
 * Performs one command. A refusal is returned as an error answer; only that of a project's own handlers is thrown.
 */
export async function executeCommand(
  context: CommandContext,
  { id, method, params }: Command,
): Promise<CommandAnswer> {
  const perform = Object.hasOwn(COMMANDS, method) ? COMMANDS[method] : undefined;
  if (perform === undefined) {
    return errorAnswer(id, "unknown_command", `There is no command "${method.slice(0, 100)}"`);
  }
  try {
    const { result, applied_through_seq } = await perform(context, params);
    const meta: CommandMeta = {
      thread_id: context.threadId,
      ...(applied_through_seq === undefined ? {} : { applied_through_seq }),
    };
    return { type: "success", id, result, meta };
  } catch (error) {
    return errorAnswer(id, ...refusalOf(error));
  }
}

function refusalOf(error: unknown): [CommandErrorCode, string] {
  if (error instanceof CommandError) return [error.error, error.message];
  if (error instanceof ApiError && error.code !== "internal") {
    return [CODES[error.code] ?? "unknown_error", error.message];
  }
  throw error;
}

/** Protocol error codes for refusals of services that other routes share. */
const CODES: Partial<Record<ApiError["code"], CommandErrorCode>> = {
  bad_request: "invalid_argument",
  not_found: "invalid_argument",
  conflict: "invalid_argument",
  validation: "invalid_argument",
  payload_too_large: "invalid_argument",
  unauthorized: "permission_denied",
  forbidden: "permission_denied",
};

async function refuse(sentence: string): Promise<Performed> {
  throw new CommandError("not_supported", sentence);
}

/**
 * Entrypoint through which a thread's object executes the commands of its WebSockets, as the caller who opened the
 * connection. Only the platform can reach it.
 */
export class ThreadCommands extends WorkerEntrypoint<Env> implements CommandPort {
  async execute(
    caller: ConnectionCaller,
    threadId: string,
    command: Command,
  ): Promise<CommandAnswer> {
    const call: AgentCall = { env: this.env, ctx: this.ctx, ...caller };
    try {
      return await executeCommand({ call, threadId }, command);
    } catch (error) {
      if (!(error instanceof ProjectRefusal) || error.status >= 500) throw error;
      return errorAnswer(command.id, "permission_denied", error.message);
    }
  }
}
