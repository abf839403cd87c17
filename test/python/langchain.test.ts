import { describe } from "vitest";
import { hasPythonClients, runPython } from "../support/python.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { collect, tracingWorkspace } from "../support/tracing.ts";

const test = testWithSharedServer().extend("workspace", { scope: "file" }, ({ server }) =>
  tracingWorkspace(server, "python"),
);

describe.skipIf(!hasPythonClients)("Python's LangChain, with its tracer", () => {
  test.for([
    ["invoked", false],
    ["streamed", true],
  ] as const)(
    "shows the steps of a chain that is %s",
    async ([how, stream], { server, workspace, expect }) => {
      const env = { LANGSMITH_TRACING: "true", LANGSMITH_PROJECT: how };
      const where = { url: server.url, apiKey: workspace.apiKey, env };
      expect(await runPython("langchain_tracer", "chain", { stream }, where)).toBe(
        "A QUIET ANSWER",
      );

      const runs = await collect(workspace.client.listRuns({ projectName: how, order: "asc" }));
      const [root] = runs;
      const shown = runs.map(({ name, run_type, status, parent_run_id }) => {
        return [name, run_type, status, parent_run_id === root?.id];
      });
      expect(shown).toEqual([
        ["quiet chain", "chain", "success", false],
        ["ChatPromptTemplate", "prompt", "success", true],
        ["GenericFakeChatModel", "llm", "success", true],
        ["RunnableLambda", "chain", "success", true],
        ["shout", "tool", "success", true],
      ]);
      expect(root).toMatchObject({
        inputs: { question: "What?" },
        tags: ["langchain"],
        extra: {
          metadata: { thread_id: "langchain thread" },
          runtime: { library: "langchain-core" },
        },
      });
      // The last chunk of a streamed message has its usage, which this model does not send.
      expect(runs[2]?.prompt_tokens).toBe(stream ? 0 : 7);
    },
  );
});
