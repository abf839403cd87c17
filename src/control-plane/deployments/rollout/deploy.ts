import { z } from "zod";
import type { GraphHostApi } from "../../../graph-runtime/protocol.ts";
import { withTimeout } from "../../../lib/with-timeout.ts";
import type { RevisionRef } from "../../../lib/revision-ref.ts";
import { CODE_UNAVAILABLE, loadRevision } from "../../../revision-host/load-revision.ts";
import { projectDescription } from "../../../revision-host/project-description.ts";
import { atSourcePositions } from "../../../revision-host/source-positions.ts";
import { ProjectFailure } from "./project-failure.ts";
import type { RolloutLog } from "./rollout-log.ts";
import { messageOf } from "../../../lib/error-text.ts";

/** Each call to a new revision may take this long; starting it takes a part of a second. */
const CALL_TIMEOUT_MS = 20_000;

/** All of the calls together may take this long. */
const STARTING_TIMEOUT_MS = 120_000;

const NOT_STARTED = `The revision did not start within ${STARTING_TIMEOUT_MS / 1000} seconds`;

const MAX_TEXT_CHARS = 10_000;

const MAX_PROBLEMS = 1000;
const MAX_FRAME_CHARS = 1000;

/** So many are looked up in the sources: a reader mends one after the other. */
const MAX_PLACED_PROBLEMS = 20;

const problems = z
  .array(z.object({ graph_id: z.string(), message: z.string(), stack: z.string().optional() }))
  .max(MAX_PROBLEMS);

const schemasAnswer = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), message: z.string() }),
]);

type ToldOfDeploy = Pick<RolloutLog, "info" | "warn" | "deploy">;

type Call = <T>(what: string, answer: z.ZodType<T>, run: () => Promise<unknown>) => Promise<T>;

/**
 * Starts a revision in an isolate of its own and looks whether it can serve: that it names its graphs,
 * that each of them is one, and what their schemas are. The graphs as JSON. `check` is called before each
 * call, and throws when nobody waits for it any more. Throws a `ProjectFailure` with what is wrong, and other errors for what is not the
 * project's fault.
 */
export async function deployRevision(
  env: Env,
  exports: Cloudflare.Exports,
  ref: RevisionRef,
  { logs, check }: { logs: ToldOfDeploy; check: () => void },
): Promise<string> {
  const host = loadRevision(env, exports, ref);
  const call = caller(check);
  logs.deploy("Starting the revision");
  const { graphs, auth } = await call("describe", projectDescription, () => host.describe());
  const found = await call("check", problems, () => host.check());
  if (found.length > 0) throw new ProjectFailure(await describeProblems(env, ref, found));
  for (const { graph_id } of graphs) await readSchemas(host, graph_id, { call, logs });
  if (auth !== null) logs.info("The project authenticates its users itself");
  return JSON.stringify(graphs);
}

/** One line for each graph, with the place in the project's sources that the problem comes from. */
async function describeProblems(
  env: Env,
  ref: RevisionRef,
  found: z.infer<typeof problems>,
): Promise<string> {
  const placed = found.slice(0, MAX_PLACED_PROBLEMS);
  const stacks = placed.map(({ stack = "" }) => stack.slice(0, MAX_TEXT_CHARS));
  const told = await atSourcePositions(env.SOURCES, ref, stacks);
  const texts = found.map(({ graph_id, message }, index) => {
    const frames = (told[index] ?? "").split("\n");
    // What is not in the project's own sources is left as it was.
    const own = frames.find((frame) => frame.includes(":") && !stacks[index]?.includes(frame));
    const place =
      own === undefined
        ? undefined
        : /[^\s()]{1,300}:\d{1,7}:\d{1,7}/.exec(own.slice(0, MAX_FRAME_CHARS))?.[0];
    const text = message.includes(`"${graph_id}"`) ? message : `Graph "${graph_id}": ${message}`;
    return place === undefined ? text : `${text} (${place})`;
  });
  return texts.join("\n");
}

/** A graph that is made for each request may well have none without one: that is told, no more. */
async function readSchemas(
  host: GraphHostApi,
  graph_id: string,
  { call, logs }: { call: Call; logs: ToldOfDeploy },
): Promise<void> {
  const config = { configurable: {}, metadata: {} };
  const schemas = await call("schemas", schemasAnswer, () => host.schemas({ graph_id, config }));
  if (schemas.ok) logs.info(`Graph ${graph_id} is ready`);
  else logs.warn(`Graph ${graph_id} has no schemas without a request: ${schemas.message}`);
}

/** Asks the revision, as long as there is time; what it answers has to fit. */
function caller(check: () => void): Call {
  const endsAt = Date.now() + STARTING_TIMEOUT_MS;
  return async (what, answer, run) => {
    check();
    const left = endsAt - Date.now();
    if (left <= 0) throw new ProjectFailure(NOT_STARTED);
    const value = await answerOf(what, Math.min(CALL_TIMEOUT_MS, left), run);
    const parsed = answer.safeParse(value);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const at = issue?.path.join(".") || "all";
    throw new ProjectFailure(
      `The revision describes itself wrongly at ${at} of "${what}": ${issue?.message}`,
    );
  };
}

async function answerOf<T>(what: string, limitMs: number, run: () => Promise<T>): Promise<T> {
  try {
    return await withTimeout(limitMs, run(), () => {
      const seconds = Math.ceil(limitMs / 1000);
      throw new ProjectFailure(`The revision did not answer "${what}" within ${seconds} seconds`);
    });
  } catch (error) {
    if (error instanceof ProjectFailure || isOfPlatform(error)) throw error;
    const message = messageOf(error);
    throw new ProjectFailure(`The revision does not start: ${message.slice(0, MAX_TEXT_CHARS)}`);
  }
}

/** The platform marks what it raises itself when it cannot reach the code at the moment. */
function isOfPlatform(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, retryable, overloaded } = error as Error & Record<string, unknown>;
  return code === CODE_UNAVAILABLE || retryable === true || overloaded === true;
}
