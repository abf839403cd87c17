import type { Request, Response as ResponseType } from "miniflare";
import type {
  ExtractedSchemas,
  findSchemas as FindSchemas,
  FoundSchemas,
  TypedSources,
} from "../project/extract-schemas.ts";
import type { ReadSchemas } from "../../src/lib/remote-types.ts";
import { loadMiniflare } from "./miniflare.ts";

type Current = {
  ended: AbortController;
  found: Promise<FoundSchemas>;
  /** Resolves when the reading has ended; undefined when it has not started. */
  read: Promise<void> | undefined;
};

/**
 * The schemas of the graphs that a local platform serves. Reading them takes longer than a start should take,
 * so it happens while the server runs, and the graph host asks for those known so far.
 */
export class LocalSchemas {
  readonly #repoRoot: string;
  readonly #warn: (message: string) => void;
  #known: ExtractedSchemas = {};
  #current: Current | undefined;

  constructor(options: { repoRoot: string; warn: (message: string) => void }) {
    this.#repoRoot = options.repoRoot;
    this.#warn = options.warn;
  }

  /**
   * Cancels the current reading and looks for the schemas of these sources. Resolves when cached ones are
   * available, or else when it is known that they have to be read. The former schemas remain available.
   */
  async find(sources: TypedSources): Promise<void> {
    await this.close();
    const ended = new AbortController();
    const options = { repoRoot: this.#repoRoot, signal: ended.signal };
    const current: Current = { ended, found: find(sources, options), read: undefined };
    this.#current = current;
    const found = await current.found;
    if ("known" in found && !ended.signal.aborted) this.#take(found.known);
  }

  /** Starts to read what was not found. */
  async startReading(): Promise<void> {
    const current = this.#current;
    const found = await current?.found;
    if (current === undefined || found === undefined || "known" in found) return;
    // Other sources may have become current meanwhile.
    if (this.#current !== current) return;
    current.read ??= found.read().then(
      (read) => this.#take(read),
      // The reading was cancelled.
      () => {},
    );
  }

  /**
   * Answers the graph host's request for one graph, `GET /<graph id>`, with its schemas by "graph" or
   * "graph|subgraph".
   */
  answer({ url }: Pick<Request, "url">): ResponseType {
    const graphId = decodeURIComponent(new URL(url).pathname.slice(1));
    return loadMiniflare().Response.json(
      Object.hasOwn(this.#known, graphId) ? this.#known[graphId] : {},
    );
  }

  /** Cancels the current reading, and ends its process. */
  async close(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    current?.ended.abort();
    await current?.found.catch(() => {});
    await current?.read;
  }

  #take({ schemas, warnings }: ReadSchemas): void {
    this.#known = schemas;
    for (const warning of warnings) this.#warn(warning);
  }
}

/** Loads the reader when it is needed: it resolves imports as TypeScript does, with much code. */
const find: typeof FindSchemas = async (sources, options) => {
  const { findSchemas } = await import("../project/extract-schemas.ts");
  return findSchemas(sources, options);
};
