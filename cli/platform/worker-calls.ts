import { randomUUID } from "node:crypto";
import type { Miniflare, V4WorkerOptions } from "miniflare";
import { z } from "zod";

/** A Worker beside the platform's that passes on what this process asks of it. */
const CALLER = "worker-calls";

/** Nobody else can know it, so that what listens for S3 clients lets only this process through. */
const HOST = `${randomUUID()}.invalid`;

/** A handle that Miniflare gives would start a thread, with a client of its own, to ask the same. */
const SCRIPT = `
const problemOf = (error) => ({ message: String(error?.message ?? error), stack: error?.stack });
const answers = {
  check: async ({ GRAPHS }) => {
    const project = await GRAPHS.describe().then(() => [], (error) => [problemOf(error)]);
    return { project, graphs: await GRAPHS.check() };
  },
  scheduled: ({ PLATFORM }, { cron, time }) =>
    PLATFORM.scheduled({ cron, scheduledTime: new Date(Number(time)) }),
};
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const asked = Object.fromEntries(searchParams);
    return answers[pathname.slice(1)](env, asked).then(
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

/** Why something of a project does not load. */
export type Problem = z.infer<typeof problem>;

/** What a `Miniflare` needs, beside the Worker of this name, for the calls below. */
export function callerOptions(
  name: string,
  { compatibilityDate, compatibilityFlags = [] }: Partial<V4WorkerOptions>,
): V4WorkerOptions {
  return {
    name: CALLER,
    modules: true,
    script: SCRIPT,
    routes: [`${HOST}/*`],
    ...(compatibilityDate === undefined ? {} : { compatibilityDate }),
    compatibilityFlags: [...compatibilityFlags, "service_binding_extra_handlers"],
    serviceBindings: { PLATFORM: { name }, GRAPHS: { name, entrypoint: "GraphHost" } },
  };
}

/** Loads the project and each of its graphs, and returns what does not load. */
export async function checkProject(miniflare: Miniflare): Promise<z.infer<typeof checked>> {
  return checked.parse(await call(miniflare, "check"));
}

/** Fires the Worker's `scheduled` handler. Rejects when it failed. */
export async function fireScheduled(miniflare: Miniflare, cron: string): Promise<void> {
  const asked = new URLSearchParams({ cron, time: String(Date.now()) });
  const { outcome } = ended.parse(await call(miniflare, `scheduled?${asked}`));
  if (outcome !== "ok") throw new Error(`its outcome is "${outcome}"`);
}

async function call(miniflare: Miniflare, path: string): Promise<unknown> {
  const response = await miniflare.dispatchFetch(`http://${HOST}/${path}`);
  const given = reply.parse(await response.json());
  if ("error" in given) throw new Error(given.error);
  return given.answer;
}
