import { isObject } from "../lib/json.ts";
import type { LoadModule } from "./graph-registry.ts";
import { type ItemVector, MAX_ITEM_VECTORS } from "./store-operations.ts";

/** The build's form of `store.index` in a project's `langgraph.json`. */
export type StoreIndexDefinition = {
  load: LoadModule;
  /** Names a function of texts, or LangChain's embeddings: an instance, or the class when `model` is given. */
  exportName: string;
  model?: string | undefined;
  dims: number;
  fields: string[];
};

/** The `index` of a put: null or undefined applies the project's fields, false indexes nothing. */
export type IndexOf = string[] | false | null | undefined;

type IndexedItem = { value: Record<string, unknown>; index: IndexOf };

/** Turns texts into vectors. */
type Embedder = {
  documents(texts: string[]): Promise<unknown>;
  query(text: string): Promise<unknown>;
};

/** The index of a project's store: computes the vectors of items and queries. */
export class StoreIndex {
  readonly #definition: StoreIndexDefinition;
  readonly #keepAlive: (loading: Promise<unknown>) => void;
  #embedder: Promise<Embedder> | undefined;

  constructor(
    definition: StoreIndexDefinition,
    keepAlive: (loading: Promise<unknown>) => void = () => {},
  ) {
    this.#definition = definition;
    this.#keepAlive = keepAlive;
  }

  /** Rejects when the export that `embed` names is neither a function nor embeddings. */
  async load(): Promise<void> {
    await this.#load();
  }

  async embedQuery(text: string): Promise<Float32Array> {
    const embedder = await this.#load();
    return this.#vector(await embedder.query(text));
  }

  /** Returns the vectors of each item. Equal texts are embedded once. */
  async embedItems(items: readonly IndexedItem[]): Promise<ItemVector[][]> {
    const texts = items.map((item) => this.#textsOf(item));
    const distinct = [...new Set(texts.flatMap((of) => of.map(({ text }) => text)))];
    if (distinct.length === 0) return items.map(() => []);
    const embedder = await this.#load();
    const embedded = await embedder.documents(distinct);
    if (!Array.isArray(embedded) || embedded.length !== distinct.length) {
      throw new Error(
        `"store.index.embed" was given ${distinct.length} texts and did not return as many vectors`,
      );
    }
    const vectors = new Map(distinct.map((text, index) => [text, this.#vector(embedded[index])]));
    return texts.map((of) =>
      of.flatMap(({ path, text }) => {
        const vector = vectors.get(text);
        return vector === undefined ? [] : [{ path, vector }];
      }),
    );
  }

  /**
   * Returns the texts to embed. Empty texts are left out: they have no meaning, and embedding services refuse
   * them.
   */
  #textsOf({ value, index }: IndexedItem): { path: string; text: string }[] {
    if (index === false) return [];
    const paths = index ?? this.#definition.fields;
    const texts = paths.flatMap((path) =>
      textsAt(value, path).map((text, number) => ({ path: `${path}#${number}`, text })),
    );
    const meant = texts.filter(({ text }) => text.trim() !== "");
    if (meant.length > MAX_ITEM_VECTORS) {
      throw new Error(
        `An item of the store has at most ${MAX_ITEM_VECTORS} texts in the index, not ${meant.length}`,
      );
    }
    return meant;
  }

  #vector(value: unknown): Float32Array {
    const { dims } = this.#definition;
    const isList = Array.isArray(value) || ArrayBuffer.isView(value);
    const vector = isList ? Float32Array.from(value as ArrayLike<number>) : null;
    if (vector === null || !vector.every(Number.isFinite)) {
      throw new Error('"store.index.embed" returned a value that is not a vector of numbers');
    }
    if (vector.length !== dims) {
      throw new Error(
        `"store.index.embed" returned a vector of ${vector.length} numbers; "store.index.dims" is ${dims}`,
      );
    }
    return vector;
  }

  #load(): Promise<Embedder> {
    if (this.#embedder === undefined) {
      this.#embedder = loadEmbedder(this.#definition);
      const forget = (): void => void (this.#embedder = undefined);
      this.#keepAlive(this.#embedder.then(() => {}, forget));
    }
    return this.#embedder;
  }
}

async function loadEmbedder({ load, exportName, model }: StoreIndexDefinition): Promise<Embedder> {
  const exported = await (await load())[exportName];
  const embeddings =
    model !== undefined && isClass(exported) ? Reflect.construct(exported, [{ model }]) : exported;
  if (isEmbeddings(embeddings)) {
    return {
      documents: (texts) => embeddings.embedDocuments(texts),
      query: (text) => embeddings.embedQuery(text),
    };
  }
  if (typeof embeddings !== "function") {
    throw new Error(
      `"store.index.embed" must name a function of texts, or LangChain's embeddings: "${exportName}" is neither`,
    );
  }
  const embed = async (texts: string[]): Promise<unknown> => embeddings(texts);
  return {
    documents: embed,
    query: async (text) => Reflect.get(Object(await embed([text])), 0),
  };
}

function isClass(value: unknown): value is new (options: object) => unknown {
  return typeof value === "function";
}

function isEmbeddings(value: unknown): value is {
  embedDocuments(texts: string[]): Promise<unknown>;
  embedQuery(text: string): Promise<unknown>;
} {
  if (!isObject(value)) return false;
  return typeof value["embedDocuments"] === "function" && typeof value["embedQuery"] === "function";
}

/**
 * Returns the texts that a path finds in an item's value, for an index. `$` is the whole value; any other
 * path names members separated by dots: `a.b`, `list[0]`, `list[-1]`, `list[*].c` and `*` for each member,
 * `{a,b.c}` for several.
 */
export function textsAt(value: unknown, path: string): string[] {
  return path === "$" ? textOf(value) : followed(value, stepsOf(path));
}

/** Splits a path into steps: `a[0].{b,c}` has the steps `a`, `[0]` and `{b,c}`. */
function stepsOf(path: string): string[] {
  return path.match(/\[[^\]]*\]|\{[^}]*\}|[^.[{]+/g) ?? [];
}

function followed(value: unknown, steps: readonly string[]): string[] {
  const [step, ...rest] = steps;
  if (step === undefined) return textOf(value);
  return reached(value, step).flatMap((inner) => followed(inner, rest));
}

/** Returns the values that one step of a path leads to. */
function reached(value: unknown, step: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (step === "*") return Object.values(value);
  if (step.startsWith("{")) {
    const paths = step.slice(1, -1).split(",");
    return paths.flatMap((path) => followed(value, stepsOf(path.trim())));
  }
  if (step.startsWith("[")) {
    if (!Array.isArray(value)) return [];
    if (step === "[*]") return value;
    const index = /^\[-?\d+\]$/.test(step) ? Number(step.slice(1, -1)) : value.length;
    return [value.at(index)];
  }
  return Object.hasOwn(value, step) ? [Reflect.get(value, step)] : [];
}

function textOf(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  return [typeof value === "string" ? value : JSON.stringify(value)];
}
