import type { Request, Response as ResponseType } from "miniflare";
import {
  beginReadingSchemas,
  type ExtractedSchemas,
  type TypedSources,
} from "../project/extract-schemas.ts";
import type { ReadSchemas } from "../../src/lib/remote-types.ts";
import { loadMiniflare } from "./miniflare.ts";

/**
 * The schemas of the graphs that a local platform serves. Reading them takes longer than a start should,
 * so it goes on beside the server, whose graph host asks for what is known by now.
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
   * Gives up what was being read, and begins with these sources; resolves when what was read of them at
   * another time is known, or the reading has begun. Until it is over the schemas before stay known.
   */
  async read(sources: TypedSources): Promise<void> {
    await this.close();
    const ended = new AbortController();
    const options = { repoRoot: this.#repoRoot, signal: ended.signal };
    const begun = beginReadingSchemas(sources, options);
    const done = begun
      .then((answer) => ("known" in answer ? answer.known : answer.reading))
      .then(
        (found) => this.#take(found),
        // It was given up.
        () => {},
      );
    this.#current = { ended, done };
    const isKnown = await begun.then(
      (answer) => "known" in answer,
      () => true,
    );
    if (isKnown) await done;
  }

  /** Answers the graph host's question for one graph, `GET /<graph id>`: by "graph" or "graph|subgraph". */
  answer({ url }: Pick<Request, "url">): ResponseType {
    const graphId = decodeURIComponent(new URL(url).pathname.slice(1));
    return loadMiniflare().Response.json(
      Object.hasOwn(this.#known, graphId) ? this.#known[graphId] : {},
    );
  }

  /** Ends what is being read, and its process. */
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
