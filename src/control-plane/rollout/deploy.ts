import { z } from "zod";
import type { GraphHostApi } from "../../graph-runtime/protocol.ts";
import type { RevisionRef } from "../../lib/revision-ref.ts";
import { CODE_UNAVAILABLE, loadRevision } from "../../revision-host/load-revision.ts";
import { ProjectFailure } from "./failure.ts";
import type { RolloutLog } from "./rollout-log.ts";

/** For each call to a new revision; starting it takes a part of a second. */
const CALL_TIMEOUT_MS = 20_000;

const MAX_TEXT_CHARS = 10_000;

/** What deployed code answers is as trustworthy as the code. */
const description = z.object({
  graphs: z
    .array(
      z.object({
        graph_id: z.string().min(1).max(256),
        description: z.string().max(MAX_TEXT_CHARS).nullable(),
      }),
    )
    .min(1)
    .max(1000),
  auth: z
    .object({
      events: z.array(z.string().max(256)).max(1000),
      studio: z.boolean(),
      cache: z
        .object({
          headers: z.array(z.string().max(256)).max(100),
          ttl_ms: z.number().positive(),
          max_size: z.int().positive(),
        })
        .nullable(),
    })
    .nullable(),
});

const problems = z.array(
  z.object({ graph_id: z.string(), message: z.string().max(MAX_TEXT_CHARS) }),
);

/**
 * Starts a revision in an isolate of its own and looks whether it can serve: that it names its graphs,
 * that each of them is one, and what their schemas are. The graphs as JSON. Throws a `ProjectFailure`
 * with what is wrong, and other errors for what is not the project's fault.
 */
export async function deployRevision(
  env: Env,
  exports: Cloudflare.Exports,
  ref: RevisionRef,
  logs: RolloutLog,
): Promise<string> {
  const host = loadRevision(env, exports, ref);
  logs.deploy("Starting the revision");
  const { graphs, auth } = parse(description, await call("describe", () => host.describe()));
  const found = parse(problems, await call("check", () => host.check()));
  if (found.length > 0) throw new ProjectFailure(found.map(({ message }) => message).join("\n"));
  for (const { graph_id } of graphs) await readSchemas(host, graph_id, logs);
  if (auth !== null) logs.info("The project authenticates its users itself");
  return JSON.stringify(graphs);
}

/** A graph that is made for each request may well have none without one: that is told, no more. */
async function readSchemas(host: GraphHostApi, graph_id: string, logs: RolloutLog): Promise<void> {
  const config = { configurable: {}, metadata: {} };
  const schemas = await call("schemas", () => host.schemas({ graph_id, config }));
  if (schemas.ok) logs.info(`Graph ${graph_id} is ready`);
  else logs.warn(`Graph ${graph_id} has no schemas without a request: ${schemas.message}`);
}

async function call<T>(what: string, run: () => Promise<T>): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const seconds = CALL_TIMEOUT_MS / 1000;
    timeout.reject(
      new ProjectFailure(`The revision did not answer "${what}" within ${seconds} seconds`),
    );
  }, CALL_TIMEOUT_MS);
  try {
    return await Promise.race([run(), timeout.promise]);
  } catch (error) {
    if (error instanceof ProjectFailure || codeOf(error) === CODE_UNAVAILABLE) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new ProjectFailure(`The revision does not start: ${message.slice(0, MAX_TEXT_CHARS)}`);
  } finally {
    clearTimeout(timer);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ProjectFailure(
    `The revision describes itself wrongly at ${issue?.path.join(".")}: ${issue?.message}`,
  );
}
