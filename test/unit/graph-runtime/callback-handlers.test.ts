import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import { assert, describe, test } from "vitest";
import {
  callHandlersOnce,
  copyMetadataOnce,
} from "../../../src/graph-runtime/callback-handlers.ts";

class Counting extends BaseCallbackHandler {
  readonly name = "counting";
  override awaitHandlers = true;
  readonly tokens: string[] = [];

  override handleLLMNewToken(token: string): void {
    this.tokens.push(token);
  }
}

/** Configures managers as LangChain 1.2 does: they keep all given handlers, including repeated ones. */
function managersOfOldVersions(): typeof CallbackManager {
  return class extends CallbackManager {
    static override _configureSync(handlers?: unknown): CallbackManager | undefined {
      assert(handlers === undefined || handlers instanceof CallbackManager);
      return handlers;
    }
  };
}

/** Returns a manager as LangGraph 1.4.7 makes it from the handlers of a config and of the async context. */
function joined(...lists: BaseCallbackHandler[][]): CallbackManager {
  return new CallbackManager(undefined, {
    handlers: lists.flat(),
    inheritableHandlers: lists.flat(),
    tags: [],
    inheritableTags: [],
    metadata: {},
    inheritableMetadata: {},
  });
}

/** Calls the handlers of a manager for three tokens, and its children's inherited handlers for one. */
async function generate(manager: CallbackManager | undefined): Promise<void> {
  assert(manager !== undefined);
  const serialized = { lc: 1, type: "not_implemented" as const, id: ["fixture"] };
  const chain = await manager.handleChainStart(serialized, {});
  const [own] = await manager.handleLLMStart(serialized, ["a question"]);
  const [inherited] = await chain.getChild().handleLLMStart(serialized, ["another"]);
  assert(own !== undefined && inherited !== undefined);
  for (const token of ["a", "a", "b"]) await own.handleLLMNewToken(token);
  await inherited.handleLLMNewToken("inherited");
}

const untold = new LangChainTracer({ client: {} as never });

describe("a configured manager", () => {
  test("calls a handler once for a token, however often it is listed", async ({ expect }) => {
    const handler = new Counting();
    const managers = managersOfOldVersions();
    callHandlersOnce(managers);
    await generate(managers._configureSync(joined([handler], [handler], [handler])));
    expect(handler.tokens).toEqual(["a", "a", "b", "inherited"]);
  });

  test("keeps different handlers of one class, in their order", ({ expect }) => {
    const [first, second] = [new Counting(), new Counting()];
    const managers = managersOfOldVersions();
    callHandlersOnce(managers);
    const manager = managers._configureSync(joined([first, second], [second, first]));
    expect(manager?.handlers).toEqual([first, second]);
    expect(manager?.handlers[0]).toBe(first);
    expect(manager?.inheritableHandlers).toEqual([first, second]);
  });

  test("has one of several copies of a tracer, and every other tracer", ({ expect }) => {
    const copy = untold.copyWithTracingConfig({ metadata: { graph: "inner" } });
    const other = new LangChainTracer({ client: {} as never });
    const managers = managersOfOldVersions();
    callHandlersOnce(managers);
    const manager = managers._configureSync(joined([untold], [copy], [other]));
    expect(manager?.handlers.map((handler) => handler === untold || handler === other)).toEqual([
      true,
      true,
    ]);
    expect(manager?.inheritableHandlers).toHaveLength(2);
  });

  test("is undefined if there is nothing to configure", ({ expect }) => {
    const managers = managersOfOldVersions();
    callHandlersOnce(managers);
    expect(managers._configureSync()).toBeUndefined();
  });

  test("of the installed version is unchanged", async ({ expect }) => {
    const managers = class extends CallbackManager {};
    callHandlersOnce(managers);
    const handler = new Counting();
    const manager = managers._configureSync([handler], [], ["tag"], [], { key: "value" });
    expect(manager?.tags).toEqual(["tag"]);
    expect(manager?.metadata).toEqual({ key: "value" });
    await generate(manager);
    expect(handler.tokens).toEqual(["a", "a", "b", "inherited"]);
  });
});

describe("a copied manager", () => {
  test("is what LangChain's own copy is", ({ expect }) => {
    const own = new Counting();
    const inherited = new Counting();
    const manager = new CallbackManager("parent", {
      handlers: [own, inherited],
      inheritableHandlers: [inherited],
      tags: ["own", "inherited"],
      inheritableTags: ["inherited"],
      metadata: { own: 1, both: "here", undefined },
      inheritableMetadata: { both: "elsewhere", undefined, absent: true },
    });
    class Managers extends CallbackManager {}
    copyMetadataOnce(Managers);
    const others: Parameters<CallbackManager["copy"]>[] = [
      [],
      [[new Counting()]],
      [[new Counting()], false],
    ];
    for (const options of others) {
      const copied = Managers.prototype.copy.apply(manager, options);
      expect(copied).toEqual(manager.copy(...options));
      expect(copied.inheritableMetadata).toStrictEqual({ both: "here", undefined });
    }
    expect(manager.metadata).toEqual({ own: 1, both: "here", undefined });
  });
});
