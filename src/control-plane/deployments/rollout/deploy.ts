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

/** Time-out of each call to a new revision. Starting a revision takes less than a second. */
const CALL_TIMEOUT_MS = 20_000;

/** Time-out of all calls together. */
const STARTING_TIMEOUT_MS = 120_000;

const NOT_STARTED = `The revision did not start within ${STARTING_TIMEOUT_MS / 1000} seconds`;

const MAX_TEXT_CHARS = 10_000;

const MAX_PROBLEMS = 1000;
const MAX_FRAME_CHARS = 1000;

/** Maximum problems that are located in the sources. Readers fix one after the other. */
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
 * Starts a revision in its own isolate and checks that it can serve: that it describes its graphs, that each of
 * them is a graph, and which schemas they have. Returns the graphs as JSON. `check` is called before each call to
 * the revision, and throws when the rollout has lost its lease. Throws a `ProjectFailure` with the problem, and
 * other errors for failures that the project did not cause.
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

/** Returns one line per problem, with its position in the project's sources if it is known. */
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
    // Frames outside of the project's own sources are left unchanged.
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

/**
 * Reads the schemas of a graph. A graph that is made for each request may have none without one, so that is only
 * logged.
 */
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

/** Makes the function that calls the revision within the remaining time and validates its answers. */
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

/** The platform marks the errors that it raises when it cannot reach the code at the moment. */
function isOfPlatform(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, retryable, overloaded } = error as Error & Record<string, unknown>;
  return code === CODE_UNAVAILABLE || retryable === true || overloaded === true;
}
