import { z } from "zod";
import { threadFor } from "../../auth/thread-access.ts";
import { type Command, CommandError } from "../protocol/commands.ts";
import { parsedParams } from "../protocol/subscriptions.ts";
import type { CommandContext } from "./execute-command.ts";
import { noRun } from "./run-commands.ts";

const treeParams = z.strictObject({ run_id: z.string().nullish() });

export async function getTree(context: CommandContext, params: Command["params"]) {
  const { call, threadId } = context;
  const { run_id } = parsedParams(treeParams, params, context.note);
  const thread = await threadFor(call, "threads:read", { thread_id: threadId });
  const tree = await thread.agentTree(run_id ?? null);
  if (tree !== null) return { result: { tree } };
  if (run_id === undefined || run_id === null) throw noRun(threadId);
  throw new CommandError("no_such_run", `There is no run ${run_id} on this thread`);
}
