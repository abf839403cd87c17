import { WorkerEntrypoint } from "cloudflare:workers";
import type { AgentCall } from "../../agent-call.ts";
import { ProjectRefusal } from "../../../lib/project-refusal.ts";
import {
  type Command,
  type CommandAnswer,
  type CommandPort,
  errorAnswer,
} from "../protocol/commands.ts";
import type { Caller } from "../protocol/connection.ts";
import { executeCommand } from "./execute-command.ts";

/**
 * How the object of a thread has the commands of its WebSockets performed: as the caller for whom the connection was
 * opened. Only the platform can reach it.
 */
export class ThreadCommands extends WorkerEntrypoint<Env> implements CommandPort {
  async execute(caller: Caller, threadId: string, command: Command): Promise<CommandAnswer> {
    const call: AgentCall = { env: this.env, ctx: this.ctx, ...caller };
    try {
      return await executeCommand({ call, threadId }, command);
    } catch (error) {
      if (!(error instanceof ProjectRefusal) || error.status >= 500) throw error;
      return errorAnswer(command.id, "permission_denied", error.message);
    }
  }
}
