import { describe, test } from "vitest";
import { loadProjectConfig } from "../../../cli/project/langgraph-json.ts";
import { temporaryProject } from "./support/temporary-project.ts";

function configOf(store: object) {
  const graphs = { agent: "./agent.ts:graph" };
  const files = { "agent.ts": "", "embed.ts": "" };
  return loadProjectConfig(temporaryProject({ ...files, "langgraph.json": { graphs, store } }));
}

describe("the store of langgraph.json", () => {
  test("has a lifetime of items with defaults", ({ expect }) => {
    expect(configOf({ ttl: { default_ttl: 60 } }).store).toEqual({
      ttl: { default_ttl: 60, refresh_on_read: true, sweep_interval_minutes: 5 },
      index: undefined,
    });
  });

  test("can have an index by a function of the project", ({ expect }) => {
    const { store } = configOf({ index: { embed: "./embed.ts:embed", dims: 3 } });
    expect(store?.index).toMatchObject({ dims: 3, fields: ["$"], embed: { exportName: "embed" } });
    expect(store?.index?.embed.file).toMatch(/\/embed\.ts$/);
  });

  test.for([
    ["openai:text-embedding-3-small", "@langchain/openai", "OpenAIEmbeddings"],
    ["google-genai:text-embedding-004", "@langchain/google-genai", "GoogleGenerativeAIEmbeddings"],
  ] as const)("can have an index by a provider: %s", ([embed, file, exportName], { expect }) => {
    const { store } = configOf({ index: { embed, dims: 3, fields: ["text"] } });
    const model = embed.slice(embed.indexOf(":") + 1);
    expect(store?.index).toEqual({ dims: 3, fields: ["text"], embed: { file, exportName, model } });
  });

  test.for<[string, object, string]>([
    ["an unknown provider", { embed: "nobody:model", dims: 3 }, '"nobody" is not a known provider'],
    ["a missing file", { embed: "./none.ts:embed", dims: 3 }, "does not exist"],
    ["Python", { embed: "./embed.py:embed", dims: 3 }, "is Python"],
    ["no dimensions", { embed: "./embed.ts:embed" }, '"store.index.dims"'],
    ["too many", { embed: "./embed.ts:embed", dims: 100_000 }, '"store.index.dims"'],
  ])("is refused with %s", ([, index, message], { expect }) => {
    expect(() => configOf({ index })).toThrow(message);
  });

  test("warns about unknown settings", ({ expect }) => {
    expect(configOf({ ttl: { sweep: 1 } }).warnings).toEqual([
      '"store.ttl.sweep" in langgraph.json is not known, and ignored',
    ]);
  });
});
