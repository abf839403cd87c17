import type { z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { MAX_DRAINED_BYTES, readLimited } from "../lib/bytes.ts";
import type { AppContext, AppEnv } from "./app-types.ts";
import { ApiError } from "../lib/api-error.ts";
import { parseJson } from "./json-text.ts";
import type { JsonText } from "../lib/json-answer.ts";

const JSON_CONTENT_TYPE = /^application\/json(; ?charset=utf-8)?$/i;

/**
 * Reads the body once, within the size limit, and parses it as JSON whatever its content type is: clients send
 * JSON as text/plain to avoid a preflight, or without a type. A missing body counts as `{}`, so that routes whose
 * fields are all optional accept it.
 */
export const jsonBody: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { method, raw } = c.req;
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return next();
  const bytes = await readBody(raw, c.var.settings.maxBodyBytes);
  const value = bytes.byteLength === 0 ? {} : parseJson(bytes);
  // The router's validators check the content type, and would parse a cached text again.
  if (!JSON_CONTENT_TYPE.test(raw.headers.get("content-type") ?? "")) {
    const headers = new Headers(raw.headers);
    headers.set("content-type", "application/json");
    c.req.raw = new Request(raw.url, { method, headers, signal: raw.signal });
  }
  c.req.json = <T>() => Promise.resolve(value as T);
  await next();
};

/** Reads the whole body. Throws a 413 when it is longer than `maxBytes`. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  const isHopeless = declared > maxBytes + MAX_DRAINED_BYTES;
  const bytes = isHopeless ? null : await readLimited(request.body, maxBytes, MAX_DRAINED_BYTES);
  if (bytes !== null) return bytes;
  throw new ApiError("payload_too_large", `Request body is larger than ${maxBytes} bytes`);
}

/** Describes the JSON body of a route. */
export function jsonBodyOf<T extends z.ZodType>(schema: T) {
  return { required: true, content: { "application/json": { schema } } };
}

/** Responds with JSON that is text already, so that large values are not parsed and serialised again. */
export function jsonResponse(c: AppContext, json: JsonText): Response {
  c.header("Content-Type", "application/json");
  return c.body(json);
}
