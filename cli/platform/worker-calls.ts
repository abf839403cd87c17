import { randomUUID } from "node:crypto";
import type { Miniflare, V4WorkerOptions } from "miniflare";
import { z } from "zod";
import type { D1, D1Statement } from "../database/database.ts";

/** The name of a Worker beside the platform's that performs the calls of this process. */
const CALLER = "worker-calls";

/** A secret host name, so that the listener for S3 clients accepts calls from this process only. */
const HOST = `${randomUUID()}.invalid`;

/** The Worker's script. Miniflare's own handles would start a thread with another client for the same calls. */
const SCRIPT = `
const problemOf = (error) => ({ message: String(error?.message ?? error), stack: error?.stack });
const answers = {
  check: async ({ GRAPHS }) => {
    const project = await GRAPHS.describe().then(() => [], (error) => [problemOf(error)]);
    return { project, graphs: await GRAPHS.check() };
  },
  scheduled: ({ PLATFORM }, { cron, time }) =>
    PLATFORM.scheduled({ cron, scheduledTime: new Date(time) }),
  query: async (env, { binding, statements }) => {
    const database = env[binding];
    const bound = statements.map(({ sql, values }) => database.prepare(sql).bind(...values));
    const [only] = bound;
    const results = bound.length === 1 ? [await only.all()] : await database.batch(bound);
    return results.map(({ results }) => results);
  },
};
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    return answers[pathname.slice(1)](env, await request.json()).then(
      (answer) => Response.json({ answer }),
      (error) => Response.json({ error: problemOf(error).message }),
    );
  },
};
`;

const reply = z.union([z.object({ answer: z.unknown() }), z.object({ error: z.string() })]);
const problem = z.object({ message: z.string(), stack: z.string().optional() });
const checked = z.object({
  project: z.array(problem),
  graphs: z.array(problem.extend({ graph_id: z.string() })),
});
const ended = z.object({ outcome: z.string() });
const rows = z.array(z.array(z.record(z.string(), z.unknown())));

/** The reason why a part of a project does not load. */
export type Problem = z.infer<typeof problem>;

/** Returns the options of the additional Worker that the calls below need, beside the Worker with this name. */
export function callerOptions(
  name: string,
  { compatibilityDate, compatibilityFlags = [], d1Databases }: Partial<V4WorkerOptions>,
): V4WorkerOptions {
  return {
    name: CALLER,
    modules: true,
    script: SCRIPT,
    routes: [`${HOST}/*`],
    ...(compatibilityDate === undefined ? {} : { compatibilityDate }),
    ...(d1Databases === undefined ? {} : { d1Databases }),
    compatibilityFlags: [...compatibilityFlags, "service_binding_extra_handlers"],
    serviceBindings: { PLATFORM: { name }, GRAPHS: { name, entrypoint: "GraphHost" } },
  };
}

/** Loads the project and each of its graphs, and returns the problems. */
export async function loadProblems(miniflare: Miniflare): Promise<z.infer<typeof checked>> {
  return checked.parse(await call(miniflare, "check", {}));
}

/** Fires the Worker's `scheduled` handler. Rejects when the handler failed. */
export async function fireScheduled(miniflare: Miniflare, cron: string): Promise<void> {
  const { outcome } = ended.parse(await call(miniflare, "scheduled", { cron, time: Date.now() }));
  if (outcome !== "ok") throw new Error(`its outcome is "${outcome}"`);
}

/** Returns a database of the Worker, accessed through the Worker's binding. Values are strings, numbers and null. */
export function databaseOf(miniflare: Miniflare, binding: string): D1 {
  type Statement = ReturnType<D1["prepare"]> & { sql: string; values: unknown[] };
  const query = async (statements: D1Statement[]): Promise<z.infer<typeof rows>> => {
    const asked = (statements as Statement[]).map(({ sql, values }) => ({ sql, values }));
    return rows.parse(await call(miniflare, "query", { binding, statements: asked }));
  };
  const statement = (sql: string, values: unknown[]): Statement => {
    const self: Statement = {
      sql,
      values,
      bind: (...given) => statement(sql, given),
      all: async () => ({ results: (await query([self]))[0] ?? [] }),
    };
    return self;
  };
  return { prepare: (sql) => statement(sql, []), batch: query };
}

async function call(miniflare: Miniflare, name: string, asked: object): Promise<unknown> {
  const body = JSON.stringify(asked);
  const response = await miniflare.dispatchFetch(`http://${HOST}/${name}`, {
    method: "POST",
    body,
  });
  const given = reply.parse(await response.json());
  if ("error" in given) throw new Error(given.error);
  return given.answer;
}
