import { isObject, type JsonObject, textOrEmpty } from "../../lib/json.ts";
import { normalBlock, parsedArgs } from "./normal-messages.ts";

/**
 * The arguments of a tool call are sent as they grow, each time as a whole. Beyond this many characters they
 * are sent only when they have doubled, so that the total sent stays in proportion to the arguments.
 */
const SMALL_ARGS_CHARS = 1024;

type OpenBlock = { key: string; index: number; content: JsonObject; told: number };

/** A message in progress: converts its chunks into events of the protocol. */
export class MessageStream {
  readonly id: string;
  readonly #role: string;
  #blocks = 0;
  #open: OpenBlock | null = null;
  #usage: JsonObject | null = null;
  #metadata: JsonObject = {};

  constructor(id: string, role: string) {
    this.id = id;
    this.#role = role;
  }

  /** True once the model has given its finish reason; usage may still arrive. */
  get isComplete(): boolean {
    return this.#reason() !== undefined;
  }

  start(metadata: JsonObject): JsonObject {
    const told = Object.keys(metadata).length > 0 ? { metadata } : {};
    return this.#event("message-start", { role: this.#role, id: this.id, ...told });
  }

  /** Returns the events of one more chunk, or of the message as a whole. */
  add(message: JsonObject): JsonObject[] {
    const { usage_metadata, response_metadata } = message;
    if (isObject(usage_metadata)) this.#usage = sumOf(this.#usage ?? {}, usage_metadata);
    if (isObject(response_metadata)) this.#metadata = { ...this.#metadata, ...response_metadata };
    return piecesOf(message).flatMap((piece) => this.#addPiece(piece));
  }

  finish(): JsonObject[] {
    const events = this.#close();
    const reason = this.#reason();
    events.push(
      this.#event("message-finish", {
        ...(this.#usage === null ? {} : { usage: this.#usage }),
        ...(reason === undefined ? {} : { reason }),
        ...(Object.keys(this.#metadata).length > 0 ? { metadata: this.#metadata } : {}),
      }),
    );
    return events;
  }

  /** Ends a message that will not be continued. */
  abandon(message: string): JsonObject[] {
    return [...this.#close(), this.#event("error", { message })];
  }

  #reason(): string | undefined {
    const { finish_reason, stop_reason } = this.#metadata;
    const reason = finish_reason ?? stop_reason;
    return typeof reason === "string" ? reason : undefined;
  }

  #addPiece(piece: Piece): JsonObject[] {
    const events: JsonObject[] = [];
    if (this.#open?.key !== piece.key) {
      events.push(...this.#close());
      const open = { key: piece.key, index: this.#blocks, content: firstContent(piece), told: 0 };
      this.#open = open;
      this.#blocks += 1;
      const { index, content } = open;
      events.push(this.#event("content-block-start", { index, content: { ...content } }));
      if (piece.kind === "whole") return [...events, ...this.#close()];
    }
    const delta = this.#open === null ? null : append(this.#open, piece);
    if (this.#open !== null && delta !== null) {
      events.push(this.#event("content-block-delta", { index: this.#open.index, delta }));
    }
    return events;
  }

  #close(): JsonObject[] {
    const open = this.#open;
    this.#open = null;
    if (open === null) return [];
    const { index } = open;
    return [this.#event("content-block-finish", { index, content: finalContent(open.content) })];
  }

  /** Creates an event. `run_id` distinguishes messages that several models of one node write at the same time. */
  #event(event: string, data: JsonObject): JsonObject {
    return { event, ...data, run_id: this.id };
  }
}

function firstContent(piece: Piece): JsonObject {
  if (piece.kind === "text") return { ...piece.rest, type: "text", text: "" };
  if (piece.kind === "reasoning") return { ...piece.rest, type: "reasoning", reasoning: "" };
  if (piece.kind === "whole") return piece.block;
  const { id = null, name = null } = piece;
  return { type: "tool_call_chunk", id, name, args: "" };
}

/** Adds the piece to the block and returns the delta for it; null when there is nothing to send. */
function append(open: OpenBlock, piece: Piece): JsonObject | null {
  const { content } = open;
  if (piece.kind === "tool") return appendArgs(open, piece);
  if (piece.kind === "whole") return null;
  Object.assign(content, piece.rest);
  if (piece.text === "") {
    const isMore = Object.keys(piece.rest).length > 0;
    return isMore
      ? { type: "block-delta", fields: { type: content["type"], ...piece.rest } }
      : null;
  }
  const field = piece.kind === "text" ? "text" : "reasoning";
  content[field] = String(content[field]) + piece.text;
  return { type: `${field}-delta`, [field]: piece.text };
}

function appendArgs(open: OpenBlock, piece: Piece & { kind: "tool" }): JsonObject | null {
  const { content } = open;
  const isNamed = content["id"] === null || content["name"] === null;
  content["id"] ??= piece.id ?? null;
  content["name"] ??= piece.name ?? null;
  const args = String(content["args"]) + piece.args;
  content["args"] = args;
  const isDue = args.length <= SMALL_ARGS_CHARS || args.length >= 2 * open.told;
  if (!isDue || (piece.args === "" && !isNamed)) return null;
  open.told = args.length;
  return { type: "block-delta", fields: { ...content } };
}

function finalContent(content: JsonObject): JsonObject {
  if (content["type"] !== "tool_call_chunk") return content;
  const { id, name, args: text } = content;
  const args = parsedArgs(text);
  if (args !== null) return { type: "tool_call", id, name, args };
  const error = "The arguments are not a JSON object";
  return { type: "invalid_tool_call", id, name, args: text, error };
}

/** Adds up the token counts of chunks, including nested details. */
function sumOf(left: JsonObject, right: JsonObject): JsonObject {
  const sum: JsonObject = { ...left };
  for (const [key, value] of Object.entries(right)) {
    const before = sum[key];
    if (typeof value === "number" && typeof before === "number") sum[key] = before + value;
    else sum[key] = isObject(value) && isObject(before) ? sumOf(before, value) : value;
  }
  return sum;
}

/** The part of a chunk that belongs to one content block. Pieces with the same key belong to the same block. */
type Piece =
  | { kind: "text"; key: string; text: string; rest: JsonObject }
  | { kind: "reasoning"; key: string; text: string; rest: JsonObject }
  | { kind: "tool"; key: string; id: unknown; name: unknown; args: string }
  /** A block that arrives as a whole, or data that is appended to one. */
  | { kind: "whole"; key: string; block: JsonObject };

/** Types of blocks in which providers stream tool calls, which LangChain repeats in `tool_call_chunks`. */
const TOOL_TYPES: ReadonlySet<unknown> = new Set([
  "tool_use",
  "input_json_delta",
  "tool_call",
  "tool_call_chunk",
  "function_call",
]);

/** The protocol's block types other than text, reasoning and tool calls. */
const KNOWN_TYPES: ReadonlySet<unknown> = new Set([
  "image",
  "audio",
  "video",
  "file",
  "server_tool_call",
  "server_tool_call_chunk",
  "server_tool_result",
  "non_standard",
]);

/** Returns the pieces of a message, or of a chunk of one, in the order of its blocks. */
function piecesOf(message: JsonObject): Piece[] {
  return [...contentPieces(message["content"]), ...toolPieces(message)];
}

function contentPieces(content: unknown): Piece[] {
  if (typeof content === "string") {
    return content === "" ? [] : [{ kind: "text", key: "text", text: content, rest: {} }];
  }
  if (!Array.isArray(content)) return [];
  return content.flatMap((block, position) => {
    const piece = isObject(block) ? contentPiece(block, position) : null;
    return piece === null ? [] : [piece];
  });
}

function contentPiece(block: JsonObject, position: number): Piece | null {
  const { type, index } = block;
  if (TOOL_TYPES.has(type)) return null;
  const place = typeof index === "number" || typeof index === "string" ? index : position;
  if (type === "text" || type === "text_delta") {
    const { type: _type, text, index: _index, ...rest } = block;
    return { kind: "text", key: `text:${place}`, text: textOrEmpty(text), rest };
  }
  if (type === "reasoning" || type === "thinking" || type === "reasoning_content") {
    const { type: _type, reasoning, thinking, index: _index, ...rest } = block;
    const text = textOrEmpty(reasoning ?? thinking);
    return { kind: "reasoning", key: `reasoning:${place}`, text, rest };
  }
  const key = `${String(type)}:${place}`;
  if (KNOWN_TYPES.has(type)) return { kind: "whole", key, block: normalBlock(block) as JsonObject };
  return { kind: "whole", key, block: { type: "non_standard", value: block } };
}

function toolPieces({ tool_call_chunks, tool_calls, invalid_tool_calls }: JsonObject): Piece[] {
  if (Array.isArray(tool_call_chunks)) {
    return tool_call_chunks.filter(isObject).map((chunk, position) => ({
      kind: "tool",
      key: `tool:${JSON.stringify(chunk["index"] ?? chunk["id"] ?? position)}`,
      id: chunk["id"],
      name: chunk["name"],
      args: textOrEmpty(chunk["args"]),
    }));
  }
  const whole = (block: JsonObject, position: number, type: string): Piece => ({
    kind: "whole",
    key: `${type}:${position}`,
    block: { ...block, type },
  });
  return [
    ...objectsOf(tool_calls).map((call, at) => whole(call, at, "tool_call")),
    ...objectsOf(invalid_tool_calls).map((call, at) => whole(call, at, "invalid_tool_call")),
  ];
}

function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
