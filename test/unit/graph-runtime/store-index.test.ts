import { describe, test } from "vitest";
import { StoreIndex, textsAt } from "../../../src/graph-runtime/store-index.ts";

const VALUE = {
  title: "A title",
  empty: null,
  meta: { author: "Ada", year: 1843, open: true },
  chapters: [{ text: "one", notes: ["a", "b"] }, { text: "two" }, "three"],
};

describe("a path of the index", () => {
  test.for<[string, string[]]>([
    ["title", ["A title"]],
    ["meta.author", ["Ada"]],
    ["meta.year", ["1843"]],
    ["meta.open", ["true"]],
    ["meta", ['{"author":"Ada","year":1843,"open":true}']],
    ["$", [JSON.stringify(VALUE)]],
    ["meta.*", ["Ada", "1843", "true"]],
    ["chapters[*].text", ["one", "two"]],
    ["chapters[0].notes[*]", ["a", "b"]],
    ["chapters[-1]", ["three"]],
    ["chapters[1].text", ["two"]],
    ["chapters[9]", []],
    ["chapters[x]", []],
    ["{title,meta.author}", ["A title", "Ada"]],
    ["chapters[*].{text,notes[0]}", ["one", "a", "two"]],
    ["empty", []],
    ["missing.more", []],
    ["title.length", []],
    ["meta.constructor", []],
  ])("finds by %s: %j", ([path, texts], { expect }) => {
    expect(textsAt(VALUE, path)).toEqual(texts);
  });
});

function indexBy(exported: unknown, more: object = {}): StoreIndex {
  const load = async () => ({ made: exported });
  return new StoreIndex({ load, exportName: "made", dims: 2, fields: ["$"], ...more });
}

class Embeddings {
  readonly #model: string;

  constructor({ model }: { model: string }) {
    this.#model = model;
  }

  async embedDocuments(texts: string[]): Promise<number[][]> {
    return texts.map((text) => [text.length, this.#model.length]);
  }

  async embedQuery(): Promise<number[]> {
    return [-1, this.#model.length];
  }
}

describe("an embedding", () => {
  test("can be a function", async ({ expect }) => {
    const index = indexBy((texts: string[]) => texts.map((text) => [text.length, 0.5]));
    expect(await index.embedQuery("four")).toEqual(new Float32Array([4, 0.5]));
  });

  test("can be LangChain's embeddings, or a promise of them", async ({ expect }) => {
    const index = indexBy(Promise.resolve(new Embeddings({ model: "m" })));
    expect(await index.embedQuery("four")).toEqual(new Float32Array([-1, 1]));
    const item = { value: { a: "four" }, index: ["a"] };
    expect(await index.embedItems([item])).toEqual([
      [{ path: "a#0", vector: new Float32Array([4, 1]) }],
    ]);
  });

  test("can be a provider's class with the name of a model", async ({ expect }) => {
    const index = indexBy(Embeddings, { model: "small" });
    expect(await index.embedQuery("four")).toEqual(new Float32Array([-1, 5]));
  });

  test.for<[string, unknown, string]>([
    ["no function", 3, '"store.index.embed" must name a function'],
    ["too few vectors", () => [], "did not return"],
    ["no vectors", () => ["a"], "not a vector of numbers"],
    ["a vector of other numbers", () => [[1, Number.NaN]], "not a vector of numbers"],
    ["another length", () => [[1, 2, 3]], 'a vector of 3 numbers; "store.index.dims" is 2'],
  ])("is refused if it returns %s", async ([, exported, message], { expect }) => {
    const items = [{ value: { a: "text" }, index: null }];
    await expect(indexBy(exported).embedItems(items)).rejects.toThrow(message);
  });

  test("is loaded again after its module has failed", async ({ expect }) => {
    let loads = 0;
    const load = async () => {
      loads += 1;
      if (loads === 1) throw new Error("not yet");
      return { made: () => [[1, 2]] };
    };
    const index = new StoreIndex({ load, exportName: "made", dims: 2, fields: ["$"] });
    await expect(index.load()).rejects.toThrow("not yet");
    await expect(index.load()).resolves.toBeUndefined();
  });
});
