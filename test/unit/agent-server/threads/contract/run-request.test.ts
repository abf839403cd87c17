import { describe, test } from "vitest";
import {
  type CreateRunRequest,
  toKwargs,
} from "../../../../../src/agent-server/threads/contract/run-request.ts";
import { toRunPayload } from "../../../../../src/agent-server/threads/run-schemas.ts";

function request(
  assistant: Partial<CreateRunRequest["assistant"]>,
  body: Omit<Parameters<typeof toRunPayload>[0], "assistant_id">,
): CreateRunRequest {
  return {
    scope: { workspaceId: "w", deploymentId: "d" },
    thread_id: "thread",
    run_id: "run",
    assistant: {
      assistant_id: "assistant",
      graph_id: "graph",
      config: {},
      context: {},
      metadata: {},
      ...assistant,
    },
    payload: toRunPayload({ assistant_id: "assistant", ...body }),
    create_thread: false,
    temporary: false,
    follow: "none",
    cancel_on_disconnect: false,
    principal: null,
    revision_id: null,
  };
}

describe("toKwargs", () => {
  test("prefers the run's configurable to the assistant's, and the server's ids to both", ({
    expect,
  }) => {
    const { config } = toKwargs(
      request(
        { config: { configurable: { a: 1, b: 1 }, tags: ["x"], recursion_limit: 7 } },
        { config: { configurable: { b: 2, run_id: "forged", thread_id: "forged" } } },
      ),
      {},
    );
    expect(config).toEqual({
      tags: ["x"],
      recursion_limit: 7,
      configurable: {
        a: 1,
        b: 2,
        run_id: "run",
        thread_id: "thread",
        graph_id: "graph",
        assistant_id: "assistant",
      },
      metadata: {},
    });
  });

  test("removes values that are reserved for the server", ({ expect }) => {
    const configurable = {
      __pregel_checkpointer: "x",
      langgraph_auth_user: { identity: "admin" },
      langgraph_auth_user_id: "admin",
      agent_auth_user: {},
      kept: true,
    };
    const { config } = toKwargs(
      request({ config: { configurable } }, { config: { configurable } }),
      {},
    );
    expect(Object.keys(config.configurable).toSorted()).toEqual([
      "assistant_id",
      "graph_id",
      "kept",
      "run_id",
      "thread_id",
    ]);
  });

  test("merges contexts that are objects, and replaces them by another kind of context", ({
    expect,
  }) => {
    const assistant = { context: { a: 1, b: 1 } };
    expect(toKwargs(request(assistant, { context: { b: 2 } }), {}).context).toEqual({ a: 1, b: 2 });
    expect(toKwargs(request(assistant, { context: "text" }), {}).context).toBe("text");
    expect(toKwargs(request(assistant, {}), {}).context).toEqual({ a: 1, b: 1 });
  });

  test("merges the metadata of assistant, thread, config and run, in this order", ({ expect }) => {
    const { config } = toKwargs(
      request({ metadata: { a: 1, b: 1 } }, { metadata: { c: 4 }, config: { metadata: { c: 3 } } }),
      { b: 2, c: 2 },
    );
    expect(config.metadata).toEqual({ a: 1, b: 2, c: 4 });
  });
});

describe("toRunPayload", () => {
  test("fills in the defaults", ({ expect }) => {
    expect(toRunPayload({ assistant_id: "x" })).toMatchObject({
      stream_mode: ["values"],
      multitask_strategy: "enqueue",
      durability: "async",
      checkpoint: null,
      input: null,
    });
  });

  test("turns a checkpoint id alone into a checkpoint", ({ expect }) => {
    const { checkpoint } = toRunPayload({ assistant_id: "x", checkpoint_id: "c" });
    expect(checkpoint?.checkpoint_id).toBe("c");
  });

  test.for([
    [false, "exit"],
    [true, "async"],
  ] as const)("reads checkpoint_during %j as durability %s", ([during, durability], { expect }) => {
    const body = { assistant_id: "x", checkpoint_during: during };
    expect(toRunPayload(body).durability).toBe(durability);
  });
});
