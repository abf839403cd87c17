import { ApiError } from "../../../lib/api-error.ts";
import { ByteWindow, CR, DASH, Delimiter, LF } from "./delimiter.ts";
import { BodyPart } from "./part-body.ts";
import { parseHeaderValue, parsePartHead } from "./part-head.ts";

export type MultipartLimits = { maxParts: number };

const MAX_HEAD_BYTES = 16 * 1024;

const MAX_BOUNDARY_CHARS = 200;

/**
 * Returns the boundary of a request's Content-Type. Throws "unsupported_media_type" for anything but
 * multipart/form-data, and "bad_request" if there is no usable boundary.
 */
export function multipartBoundary(contentType: string | null): string {
  const { value, parameters } = parseHeaderValue(contentType ?? "");
  if (value.toLowerCase() !== "multipart/form-data") {
    throw new ApiError(
      "unsupported_media_type",
      `Content-Type is "${value}"; send multipart/form-data`,
    );
  }
  const boundary = parameters.get("boundary") ?? "";
  if (boundary === "" || boundary.length > MAX_BOUNDARY_CHARS) {
    throw new ApiError("bad_request", "Content-Type has no valid boundary parameter");
  }
  return boundary;
}

/**
 * Reads multipart/form-data part by part, holding no more than a chunk of its input. Throws an ApiError
 * "bad_request" if the framing is broken; nothing can be read after that.
 *
 * It is written by hand because `Request.formData()` holds a whole body in memory, and parsers from npm work
 * with Node streams and skip malformed parts. Here, the client learns which part is malformed, a part may
 * declare its length, and attachments are passed on to R2 while they arrive.
 */
export class MultipartReader {
  readonly #window: ByteWindow;
  readonly #delimiter: Delimiter;
  readonly #limits: MultipartLimits;
  #state: "before" | "parts" | "end" = "before";
  #parts = 0;
  #current: BodyPart | null = null;
  #head = { lineStart: 0, scanned: 0, lines: 0 };

  constructor(source: AsyncIterable<Uint8Array>, boundary: string, limits: MultipartLimits) {
    this.#window = new ByteWindow(source);
    this.#delimiter = new Delimiter(boundary);
    this.#limits = limits;
  }

  /**
   * Returns the next part, without a promise if its headers have already arrived. Returns null after the last
   * part, once the input has been read to its end.
   */
  next(): BodyPart | null | Promise<BodyPart | null> {
    return this.#nextNow() ?? this.#nextLater();
  }

  /** Tells the source that no more will be read. */
  cancel(): Promise<void> {
    return this.#window.cancel();
  }

  async #nextLater(): Promise<BodyPart | null> {
    for (;;) {
      const part = this.#nextNow();
      if (part !== undefined) return part;
      if (this.#state === "end") {
        // What follows has no meaning, but a checksum at the end may still prove the body broken.
        while (await this.#window.fill()) this.#window.take(this.#window.length);
        return null;
      }
      if (!(await this.#window.fill())) throw this.#truncated();
    }
  }

  /** Returns undefined if more input is needed, and always after the last part. */
  #nextNow(): BodyPart | undefined {
    if (this.#state === "before" && !this.#enter()) return undefined;
    if (this.#current?.skipNow() === false) return undefined;
    this.#current = null;
    if (this.#state === "end") return undefined;
    const end = this.#headEnd();
    if (end === undefined) return undefined;
    const { lineStart } = this.#head;
    this.#head = { lineStart: 0, scanned: 0, lines: 0 };
    this.#parts += 1;
    if (this.#parts > this.#limits.maxParts) {
      throw new ApiError(
        "payload_too_large",
        `Multipart body has more than ${this.#limits.maxParts} parts`,
      );
    }
    const head = parsePartHead(this.#window.take(end).subarray(0, lineStart));
    this.#current = new BodyPart(head, this.#window, this.#delimiter);
    return this.#current;
  }

  /** Finds the first boundary. The bytes before it are handled like a part that is not read. */
  #enter(): boolean {
    const length = this.#delimiter.matchLineAt(this.#window, 0);
    if (length === undefined) return false;
    if (length === false) {
      const preamble = { name: "(before the first boundary)", contentType: "", length: null };
      this.#current = new BodyPart(preamble, this.#window, this.#delimiter);
    } else {
      this.#window.take(length);
    }
    this.#state = "parts";
    return true;
  }

  /** Returns the end of the next part's headers, after the blank line; undefined if it has not arrived yet. */
  #headEnd(): number | undefined {
    const window = this.#window;
    const head = this.#head;
    if (head.lines === 0 && window.at(0) === DASH) {
      const second = window.at(1);
      if (second === DASH) {
        window.take(2);
        this.#state = "end";
      } else if (second !== undefined) {
        throw malformedBoundary();
      }
      return undefined;
    }
    for (;;) {
      const lf = window.indexOf(LF, head.scanned);
      head.scanned = lf === -1 ? window.length : lf + 1;
      if (head.scanned > MAX_HEAD_BYTES) {
        throw new ApiError(
          "bad_request",
          `The headers of a multipart part are larger than ${MAX_HEAD_BYTES} bytes`,
        );
      }
      if (lf === -1) return undefined;
      if (head.lines === 0) {
        if (!isBlank(window.view(0, lf))) throw malformedBoundary();
        this.#delimiter.endsWithCrLf = window.at(lf - 1) === CR;
      } else if (isEmptyLine(window.view(head.lineStart, lf))) {
        return lf + 1;
      }
      head.lines += 1;
      head.lineStart = lf + 1;
    }
  }

  #truncated(): ApiError {
    const current = this.#current;
    if (this.#state === "before" || (this.#parts === 0 && current !== null)) {
      return new ApiError("bad_request", "Request body does not contain the multipart boundary");
    }
    const where = current === null || current.isDone ? "" : `, within part "${current.name}"`;
    return new ApiError(
      "bad_request",
      `Multipart body is cut off: it ends before its final boundary${where}`,
    );
  }
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 32 || byte === 9 || byte === CR);
}

function isEmptyLine(line: Uint8Array): boolean {
  return line.byteLength === 0 || (line.byteLength === 1 && line[0] === CR);
}

function malformedBoundary(): ApiError {
  return new ApiError(
    "bad_request",
    "A multipart boundary is followed by neither a new line nor --",
  );
}
