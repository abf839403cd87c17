import { isObject } from "../../lib/json.ts";
import { normalBlock } from "./normal-messages.ts";

type Json = Record<string, unknown>;

/** What one chunk of a message adds to one content block. Pieces of the same key belong to the same block. */
export type Piece =
  | { kind: "text"; key: string; text: string; rest: Json }
  | { kind: "reasoning"; key: string; text: string; rest: Json }
  | { kind: "tool"; key: string; id: unknown; name: unknown; args: string }
  /** A block that comes as a whole, or data that is appended to one. */
  | { kind: "whole"; key: string; block: Json };

/** Types of blocks by which providers stream tool calls, which LangChain repeats in `tool_call_chunks`. */
const TOOL_TYPES: ReadonlySet<unknown> = new Set([
  "tool_use",
  "input_json_delta",
  "tool_call",
  "tool_call_chunk",
  "function_call",
]);

/** Types that the protocol knows besides text, reasoning and tool calls. */
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

/** The pieces of a message, or of a chunk of one, in the order of its blocks. */
export function piecesOf(message: Json): Piece[] {
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

function contentPiece(block: Json, position: number): Piece | null {
  const { type, index } = block;
  if (TOOL_TYPES.has(type)) return null;
  const place = typeof index === "number" || typeof index === "string" ? index : position;
  if (type === "text" || type === "text_delta") {
    const { type: _type, text, index: _index, ...rest } = block;
    return { kind: "text", key: `text:${place}`, text: textOf(text), rest };
  }
  if (type === "reasoning" || type === "thinking" || type === "reasoning_content") {
    const { type: _type, reasoning, thinking, index: _index, ...rest } = block;
    const text = textOf(reasoning ?? thinking);
    return { kind: "reasoning", key: `reasoning:${place}`, text, rest };
  }
  const key = `${String(type)}:${place}`;
  if (KNOWN_TYPES.has(type)) return { kind: "whole", key, block: normalBlock(block) as Json };
  return { kind: "whole", key, block: { type: "non_standard", value: block } };
}

function toolPieces({ tool_call_chunks, tool_calls, invalid_tool_calls }: Json): Piece[] {
  if (Array.isArray(tool_call_chunks)) {
    return tool_call_chunks.filter(isObject).map((chunk, position) => ({
      kind: "tool",
      key: `tool:${JSON.stringify(chunk["index"] ?? chunk["id"] ?? position)}`,
      id: chunk["id"],
      name: chunk["name"],
      args: textOf(chunk["args"]),
    }));
  }
  const whole = (block: Json, position: number, type: string): Piece => ({
    kind: "whole",
    key: `${type}:${position}`,
    block: { ...block, type },
  });
  return [
    ...objectsOf(tool_calls).map((call, at) => whole(call, at, "tool_call")),
    ...objectsOf(invalid_tool_calls).map((call, at) => whole(call, at, "invalid_tool_call")),
  ];
}

function objectsOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
