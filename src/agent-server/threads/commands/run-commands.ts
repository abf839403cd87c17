import { z } from "zod";
import type { CommandSpec, RunStreamMode } from "../../../graph-runtime/protocol.ts";
import { CHECKPOINT_POINTERS } from "../../../graph-runtime/protocol.ts";
import { threadFor } from "../../auth/thread-access.ts";
import { BUSY_TEXT, threadFailure } from "../contract/failures.ts";
import type { StartRunRequest } from "../contract/thread-commands.ts";
import { prepareRun } from "../new-run.ts";
import { type Command, CommandError } from "../protocol/commands.ts";
import { parsedParams } from "../protocol/subscriptions.ts";
import { commandSchema, configSchema, type RunCreateBody } from "../run-schemas.ts";
import { MULTITASK_STRATEGIES } from "../storage/run-row.ts";
import type { CommandContext } from "./execute-command.ts";

/** The stream modes from which the protocol's events are translated. */
const STREAM_MODES: RunStreamMode[] = [
  "values",
  "updates",
  "messages-tuple",
  "tools",
  "custom",
  "tasks",
  CHECKPOINT_POINTERS,
];

const jsonObject = z.record(z.string(), z.unknown());

const strategy = z.enum(MULTITASK_STRATEGIES).nullish().catch(null);

const runMembers = { config: configSchema.nullish(), metadata: jsonObject.nullish() };

const startParams = z.strictObject({
  ...runMembers,
  assistant_id: z.string().min(1),
  input: z.unknown().optional(),
  // Clients send one or the other; the newest ones send both.
  multitaskStrategy: strategy,
  multitask_strategy: strategy,
  langsmith_tracer: z.unknown().optional(),
});

const answer = {
  namespace: z.array(z.string()).nullish(),
  interrupt_id: z.string().min(1),
  response: z.unknown().optional(),
};

const resumeMembers = {
  ...runMembers,
  update: commandSchema.shape.update,
  goto: commandSchema.shape.goto,
  // An answer to an interrupt that is not pending is always refused, so this has no further effect.
  strict_resume: z.boolean().nullish(),
};

const respondParams = z.union([
  z.strictObject({ ...resumeMembers, ...answer }),
  z.strictObject({
    ...resumeMembers,
    responses: z.array(z.strictObject(answer)).min(1).max(1000),
  }),
]);

const forkParams = z.strictObject({
  checkpoint_id: z.string().min(1),
  input: z.unknown().optional(),
  config: configSchema.nullish(),
});

type Started = { run_id: string; applied_through_seq: number };

export async function startCommandRun(context: CommandContext, params: Command["params"]) {
  const { assistant_id, input, config, metadata, ...asked } = parsedParams(
    startParams,
    params,
    context.note,
  );
  if (asked.langsmith_tracer) {
    throw new CommandError(
      "not_supported",
      "params.langsmith_tracer: The project of a run's trace cannot be chosen here: it is that of the deployment",
    );
  }
  const { checkpoint_id, ...rest } = config?.configurable ?? {};
  const isFork = typeof checkpoint_id === "string";
  const { run_id, applied_through_seq } = await start(
    context,
    {
      assistant_id,
      input,
      metadata,
      config: config?.configurable === undefined ? config : { ...config, configurable: rest },
      multitask_strategy: asked.multitask_strategy ?? asked.multitaskStrategy,
      ...(isFork ? { checkpoint_id } : {}),
    },
    { answers: null, input_may_answer: !isFork },
  );
  return { result: { run_id }, applied_through_seq };
}

export async function respondToInput(context: CommandContext, params: Command["params"]) {
  const asked = parsedParams(respondParams, params, context.note);
  const { update, goto, config, metadata } = asked;
  const answers = "responses" in asked ? asked.responses : [asked];
  const byId = Object.fromEntries(
    answers.map(({ interrupt_id, response }) => [interrupt_id, response ?? null]),
  );
  const command: CommandSpec = { resume: byId, update, goto };
  const assistant_id = await boundAssistant(context);
  const started = await start(
    context,
    { assistant_id, command, config, metadata },
    { answers: Object.keys(byId), input_may_answer: false },
  );
  return { result: {}, applied_through_seq: started.applied_through_seq };
}

export async function forkState(context: CommandContext, params: Command["params"]) {
  const { checkpoint_id, input, config } = parsedParams(forkParams, params, context.note);
  const assistant_id = await boundAssistant(context);
  const { run_id, applied_through_seq } = await start(
    context,
    { assistant_id, input, config, checkpoint_id },
    { answers: null, input_may_answer: false },
  );
  return { result: { run_id, thread_id: context.threadId }, applied_through_seq };
}

/** Returns the assistant of the thread's earlier runs, for commands that do not name one. */
async function boundAssistant({ call, threadId }: CommandContext): Promise<string> {
  const thread = await threadFor(call, "threads:read", { thread_id: threadId });
  const view = await thread.view();
  if (view === null || view.assistant_id === null) throw noRun(threadId);
  return view.assistant_id;
}

/**
 * Returns the error for a thread without runs. It is the same if the thread does not exist, or the caller may not
 * see it.
 */
export function noRun(threadId: string): CommandError {
  return new CommandError("no_such_run", `There is no run on the thread ${threadId} yet`);
}

async function start(
  { call, threadId }: CommandContext,
  body: RunCreateBody,
  how: Pick<StartRunRequest, "answers" | "input_may_answer">,
): Promise<Started> {
  const { thread, request } = await prepareRun(
    call,
    { ...body, stream_subgraphs: true, stream_resumable: true },
    { follow: "none", threadId, createThread: true, temporary: false },
  );
  const run = { ...request, payload: { ...request.payload, stream_mode: STREAM_MODES } };
  const started = await thread.startRun({ run, ...how });
  if (started.ok) return started.value;
  const { code } = started;
  if (code === "thread_busy") throw new CommandError("invalid_argument", BUSY_TEXT);
  if (code === "no_such_interrupt" || code === "no_such_checkpoint") {
    throw new CommandError(code, TEXTS[code]);
  }
  if (code === "other_assistant") throw new CommandError("invalid_argument", TEXTS[code]);
  throw threadFailure({ code }, threadId);
}

const TEXTS = {
  no_such_interrupt: "The interrupt is not pending on this thread",
  no_such_checkpoint: "The thread has no such checkpoint",
  other_assistant: "The thread has had runs of another assistant",
};
