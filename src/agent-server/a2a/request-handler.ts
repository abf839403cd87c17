import type { GetTaskRequest, SendMessageRequest, Task } from "@a2a-js/sdk";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import type { CommandSpec } from "../../graph-runtime/protocol.ts";
import type { AgentCall } from "../agent-call.ts";
import type { Assistant } from "../assistants/assistant-json.ts";
import { agentCard } from "./agent-card.ts";
import { listTasks } from "./list-tasks.ts";
import { cancelTask, findTask, readResult, readEndedTask } from "./read-task.ts";
import { beginRun } from "./send-message.ts";
import { streamTask, subscribeToTask } from "./stream-task.ts";
import { toTask } from "./task-json.ts";
import { toTaskId } from "./task-id.ts";

export type HandlerOptions = {
  /** The address of the assistant's A2A endpoint. */
  url: string;
  command: CommandSpec | null;
  /** Called when a run that the request waits for has started. */
  begun: () => void;
  /** Throws the error that the SDK is to translate. */
  fail: (error: unknown) => never;
};

/** Returns a handler for one assistant, which the SDK's handlers for both families of methods call. */
export function newRequestHandler(
  call: AgentCall,
  assistant: Assistant,
  { url, command, begun, fail }: HandlerOptions,
): A2ARequestHandler {
  const send = async (params: SendMessageRequest): Promise<Task> => {
    const { historyLength, returnImmediately = false } = params.configuration ?? {};
    const follow = returnImmediately ? "none" : "result";
    const { ids, run, stream } = await beginRun(call, assistant, { ...params, command }, follow);
    if (stream === null) return toTask({ ids, run, values: null }, historyLength);
    begun();
    const values = await readResult(stream);
    const found = await findTask(call, assistant, toTaskId(ids));
    return toTask({ ids, run: found.run, values }, historyLength);
  };
  const get = async ({ id, historyLength }: GetTaskRequest): Promise<Task> =>
    toTask(await readEndedTask(await findTask(call, assistant, id)), historyLength);
  return {
    getAgentCard: async () => agentCard(assistant, url),
    sendMessage: (params) => send(params).catch(fail),
    async *sendMessageStream(params) {
      try {
        const begunRun = await beginRun(call, assistant, { ...params, command }, "events");
        yield* streamTask(call, assistant, begunRun);
      } catch (error) {
        fail(error);
      }
    },
    getTask: (params) => get(params).catch(fail),
    cancelTask: ({ id }) =>
      cancelTask(call, assistant, id)
        .then((state) => toTask(state))
        .catch(fail),
    async *resubscribe({ id }) {
      try {
        yield* subscribeToTask(call, assistant, id);
      } catch (error) {
        fail(error);
      }
    },
    listTasks: (params) => listTasks(call, assistant, params).catch(fail),
    getAuthenticatedExtendedAgentCard: notServed,
    createTaskPushNotificationConfig: notServed,
    getTaskPushNotificationConfig: notServed,
    listTaskPushNotificationConfigs: notServed,
    deleteTaskPushNotificationConfig: notServed,
  };
}

/** The methods that lead here are refused before they reach the handler. */
function notServed(): never {
  throw new Error("The method is not served");
}
