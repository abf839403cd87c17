import type { CommandSpec } from "../../graph-runtime/protocol.ts";
import { isObject } from "../../lib/json.ts";
import { log } from "../../lib/log.ts";
import type { AgentCall } from "../agent-call.ts";
import type { Assistant } from "../assistants/assistant-json.ts";
import { newRequestHandler } from "./request-handler.ts";
import { METHODS, requestSchema } from "./schemas.ts";
import { TaskRefusal, type TaskRefusalReason } from "./task-refusal.ts";

/**
 * Loads the SDK when it is first needed: most isolates never need it, and a Worker's start time delays every
 * request.
 */
async function loadSdk() {
  const [current, older, errors] = await Promise.all([
    import("@a2a-js/sdk/server"),
    import("@a2a-js/sdk/compat/v0_3/server"),
    import("@a2a-js/sdk/errors"),
  ]);
  return { ...current, ...older, errors };
}

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

type RpcId = string | number | null;

export type RpcAnswer =
  | { kind: "invalid" | "one"; body: object }
  /** The first event is read before the answer starts, so that a refusal can still be answered as one. */
  | { kind: "stream"; first: object; rest: AsyncGenerator<object, void, undefined> };

const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

/** Whether the request's method answers with a stream of events. */
export function isStreamed(body: unknown): boolean {
  const request = requestSchema.safeParse(body);
  return request.success && METHODS.get(request.data.method)?.streams === true;
}

/**
 * Answers one request in the format of the family that its method belongs to. A refusal for which the protocol has
 * no error is thrown, so that it is answered like a refused request to any other route.
 */
export async function serveRequest(
  call: AgentCall,
  assistant: Assistant,
  body: unknown,
  options: { url: string; begun: () => void },
): Promise<RpcAnswer> {
  const request = requestSchema.safeParse(body);
  if (!request.success) {
    const text = "The body is not a request of JSON-RPC 2.0";
    return { kind: "invalid", body: rpcError(null, INVALID_REQUEST, text) };
  }
  const { id = null, method, params } = request.data;
  const known = METHODS.get(method);
  if (known === undefined) {
    const text = `The method ${method.slice(0, 100)} is not served`;
    return { kind: "one", body: rpcError(id, METHOD_NOT_FOUND, text) };
  }
  const parsed = known.params.safeParse(params ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const text = `params.${issue?.path.join(".")}: ${issue?.message}`;
    return { kind: "one", body: rpcError(id, INVALID_PARAMS, text) };
  }
  const sdk = await loadSdk();
  const { command = null, ...rest } = parsed.data as { command?: CommandSpec };
  let refused: { error: unknown } | null = null;
  const fail = (error: unknown): never => {
    if (error instanceof TaskRefusal) throw toSdkError(sdk, error);
    refused = { error };
    throw error;
  };
  const handler = newRequestHandler(call, assistant, { ...options, command, fail });
  const isOlder = method.includes("/");
  const transport = isOlder
    ? new sdk.LegacyJsonRpcTransportHandler(handler)
    : new sdk.JsonRpcTransportHandler(handler);
  const message = { ...request.data, params: isOlder ? waiting(rest) : rest };
  const answer = await transport.handle(message, new sdk.ServerCallContext());
  if (!(Symbol.asyncIterator in answer)) {
    const failure = refused as { error: unknown } | null;
    if (failure !== null) throw failure.error;
    return { kind: "one", body: answer };
  }
  try {
    const first = await answer.next();
    if (first.done === true) throw new Error("A stream of events has a first one");
    return { kind: "stream", first: first.value, rest: untilFailure(answer, id) };
  } catch (error) {
    if (!(error instanceof sdk.errors.A2AError)) throw error;
    const told = isOlder
      ? sdk.LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
      : sdk.JsonRpcTransportHandler.mapToJSONRPCError(error);
    return { kind: "one", body: { jsonrpc: "2.0", id, error: told } };
  }
}

/** Yields an error response as the last event if the stream fails after it has started. */
async function* untilFailure(
  events: AsyncGenerator<object, void, undefined>,
  id: RpcId,
): AsyncGenerator<object, void, undefined> {
  try {
    yield* events;
  } catch (error) {
    log("error", "error", { event: "answer_broken_off", error: String(error) });
    yield rpcError(id, INTERNAL_ERROR, "Internal server error");
  }
}

/**
 * Makes `blocking` default to true for the older family. Its SDK default is not to wait for the run, which hardly
 * any client wants.
 */
function waiting(params: Record<string, unknown>): Record<string, unknown> {
  const { configuration } = params;
  if (!isObject(configuration)) return params;
  const { blocking = true } = configuration;
  return { ...params, configuration: { ...configuration, blocking } };
}

function toSdkError({ errors }: Sdk, { reason, message }: TaskRefusal): Error {
  const CLASSES = {
    task_not_found: errors.TaskNotFoundError,
    task_not_cancelable: errors.TaskNotCancelableError,
    unsupported_operation: errors.UnsupportedOperationError,
    unsupported_content: errors.ContentTypeNotSupportedError,
    invalid_params: errors.RequestMalformedError,
  } as const satisfies Record<TaskRefusalReason, unknown>;
  return new CLASSES[reason](message);
}

function rpcError(id: RpcId, code: number, message: string): object {
  return { jsonrpc: "2.0", id, error: { code, message } };
}
