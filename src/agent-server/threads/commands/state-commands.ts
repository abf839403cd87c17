import { z } from "zod";
import { isObject } from "../../../lib/json.ts";
import { readJsonText } from "../../../lib/json-answer.ts";
import { threadFor } from "../../auth/thread-access.ts";
import { requestedRevision } from "../../graph-host.ts";
import { threadFailure } from "../contract/failures.ts";
import type { ReadStateResult } from "../contract/thread-requests.ts";
import { type Command, CommandError } from "../protocol/commands.ts";
import { startsWith } from "../protocol/event-filter.ts";
import { normalState } from "../../../graph-runtime/stream-protocol/normal-messages.ts";
import { parsedParams } from "../protocol/subscriptions.ts";
import type { CommandContext } from "./execute-command.ts";
import { noRun } from "./run-commands.ts";

/**
 * Maximum bytes of an answer, because it is a single message. The routes of the thread's state return larger
 * states.
 */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

const namespace = z.array(z.string()).nullish();

const getParams = z.strictObject({ namespace, keys: z.array(z.string()).nullish() });

const listParams = z.strictObject({
  namespace,
  limit: z.int().min(1).max(1000).nullish(),
  before: z.string().nullish(),
});

/** The members of a ThreadState that are read here. */
type State = {
  values?: unknown;
  next?: string[];
  created_at?: string | null;
  metadata?: { step?: number; [key: string]: unknown } | null;
  checkpoint?: { checkpoint_id?: string | null; checkpoint_ns?: string } | null;
};

export async function getState(context: CommandContext, params: Command["params"]) {
  const { call, threadId } = context;
  const { namespace: path, keys } = parsedParams(getParams, params, context.note);
  const { thread, ns } = await readable(context, path ?? []);
  const state: State = await parsed(
    await thread.getState({
      ...requestedRevision(call),
      checkpoint: ns === "" ? null : { checkpoint_ns: ns },
      subgraphs: false,
    }),
    threadId,
  );
  const id = state.checkpoint?.checkpoint_id;
  const checkpoint = { id, ...(ns === "" ? {} : { ns }) };
  return {
    result: {
      values: picked(normalState(state.values ?? {}), keys ?? null),
      ...(id === undefined || id === null ? {} : { checkpoint }),
    },
  };
}

export async function listCheckpoints(context: CommandContext, params: Command["params"]) {
  const { call, threadId } = context;
  const { namespace: path, limit, before } = parsedParams(listParams, params, context.note);
  const { thread, ns } = await readable(context, path ?? []);
  const states: State[] = await parsed(
    await thread.getHistory({
      ...requestedRevision(call),
      checkpoint: ns === "" ? null : { checkpoint_ns: ns },
      limit: limit ?? 10,
      before: before ?? null,
      filter: null,
    }),
    threadId,
  );
  return { result: { checkpoints: states.map((state, at) => summary(state, states[at + 1])) } };
}

/** Returns a state in a list. It names the node only if that was the only one to run next in the state before. */
function summary({ checkpoint, created_at, metadata }: State, before: State | undefined) {
  const [node, ...others] = before?.next ?? [];
  return {
    id: checkpoint?.checkpoint_id,
    timestamp: created_at,
    step: metadata?.step,
    ...(node === undefined || others.length > 0 ? {} : { node_name: node }),
    ...(metadata ? { metadata } : {}),
  };
}

/**
 * Returns the thread, and the namespace at `path`. If the path contains only nodes, it is that of their latest
 * execution.
 */
async function readable({ call, threadId }: CommandContext, path: string[]) {
  const thread = await threadFor(call, "threads:read", { thread_id: threadId });
  const view = await thread.view();
  if (view === null) throw noRun(threadId);
  const found = view.namespaces.findLast((name) => {
    const segments = name === "" ? [] : name.split("|");
    return segments.length === path.length && startsWith(segments, path);
  });
  if (path.length > 0 && found === undefined) {
    throw new CommandError("no_such_namespace", "The thread has no state at this namespace");
  }
  return { thread, ns: path.length === 0 ? "" : (found ?? "") };
}

async function parsed<T>(read: ReadStateResult, threadId: string): Promise<T> {
  if (!read.ok) throw threadFailure(read, threadId);
  const text = await readJsonText(read.value, MAX_ANSWER_BYTES);
  if (text !== null) return JSON.parse(text);
  throw new CommandError(
    "not_supported",
    "The state is too large for an answer to a command: GET /threads/{thread_id}/state",
  );
}

function picked(values: unknown, keys: string[] | null): unknown {
  if (keys === null || !isObject(values)) return values;
  return Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key)));
}

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
