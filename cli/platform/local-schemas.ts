import type { Request, Response as ResponseType } from "miniflare";
import type {
  beginReadingSchemas as BeginReadingSchemas,
  ExtractedSchemas,
  TypedSources,
} from "../project/extract-schemas.ts";
import type { ReadSchemas } from "../../src/lib/remote-types.ts";
import { loadMiniflare } from "./miniflare.ts";

/**
 * The schemas of the graphs that a local platform serves. Reading them takes longer than a start should take,
 * so it happens while the server runs, and the graph host asks for those known so far.
 */
export class LocalSchemas {
  readonly #repoRoot: string;
  readonly #warn: (message: string) => void;
  #known: ExtractedSchemas = {};
  #current: { ended: AbortController; done: Promise<void> } | undefined;

  constructor(options: { repoRoot: string; warn: (message: string) => void }) {
    this.#repoRoot = options.repoRoot;
    this.#warn = options.warn;
  }

  /**
   * Cancels the current reading and starts one of these sources. Resolves when cached schemas of the same
   * sources are available, or else when the reading has started. Until it ends, the former schemas remain
   * available.
   */
  async read(sources: TypedSources): Promise<void> {
    await this.close();
    const ended = new AbortController();
    const options = { repoRoot: this.#repoRoot, signal: ended.signal };
    const begun = beginReading(sources, options);
    const done = begun
      .then((answer) => ("known" in answer ? answer.known : answer.reading))
      .then(
        (found) => this.#take(found),
        // The reading was cancelled.
        () => {},
      );
    this.#current = { ended, done };
    const isKnown = await begun.then(
      (answer) => "known" in answer,
      () => true,
    );
    if (isKnown) await done;
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
    this.#current?.ended.abort();
    await this.#current?.done;
    this.#current = undefined;
  }

  #take({ schemas, warnings }: ReadSchemas): void {
    this.#known = schemas;
    for (const warning of warnings) this.#warn(warning);
  }
}

/** Loads the reader when the server runs already: it resolves imports as TypeScript does, with much code. */
const beginReading: typeof BeginReadingSchemas = async (sources, options) => {
  const { beginReadingSchemas } = await import("../project/extract-schemas.ts");
  return beginReadingSchemas(sources, options);
};
