/** The platform, which counts its requests to Cloudflare in its single isolate. Used by `npm run bench -- cost`. */
import platform, * as classes from "../../src/index.ts";
import { countBindings } from "./count-bindings.ts";
import { countStorage } from "./count-storage.ts";
import { COUNTING_PATH, type CountingAnswer, type CountingRequest } from "./counts.ts";
import { byStatement, counts, delayHops, shares } from "./tally.ts";

export * from "../../src/index.ts";

/** The members that all object classes have in common. */
interface AnObject {
  alarm?: (info?: AlarmInvocationInfo) => void | Promise<void>;
}

type ObjectClass = new (ctx: DurableObjectState, env: Env) => AnObject;

/** Returns a subclass whose objects count their operations. */
function counting<Base extends ObjectClass>(name: string, base: Base): Base {
  const objectClass: ObjectClass = base;
  class Counting extends objectClass {
    constructor(ctx: DurableObjectState, env: Env) {
      countBindings(env);
      countStorage(ctx.storage, name);
      super(ctx, env);
    }
  }
  const { alarm } = base.prototype as AnObject;
  if (alarm !== undefined) {
    Object.assign(Counting.prototype, {
      alarm(this: AnObject, info?: AlarmInvocationInfo) {
        counts.alarms += 1;
        return alarm.call(this, info);
      },
    });
  }
  return Counting as unknown as Base;
}

export const AssistantCacheObject = counting("AssistantCacheObject", classes.AssistantCacheObject);
export const StoreObject = counting("StoreObject", classes.StoreObject);
export const DeploymentLogObject = counting("DeploymentLogObject", classes.DeploymentLogObject);
export const ThreadIndexObject = counting("ThreadIndexObject", classes.ThreadIndexObject);
export const RateLimitObject = counting("RateLimitObject", classes.RateLimitObject);
export const HeldSpansObject = counting("HeldSpansObject", classes.HeldSpansObject);
export const RunIndexObject = counting("RunIndexObject", classes.RunIndexObject);
export const RunShardObject = counting("RunShardObject", classes.RunShardObject);
export const TraceRecorderObject = counting("TraceRecorderObject", classes.TraceRecorderObject);
export const ThreadObject = counting("ThreadObject", classes.ThreadObject);

let d1StatementsBeforeFirstEvent = 0;

/** Returns the response, with a body that records when its first bytes pass. */
function watchFirstEvent(response: Response, d1Before: number): Response {
  if (response.body === null || !isStream(response)) return response;
  let isFirst = true;
  const watched = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      if (isFirst) d1StatementsBeforeFirstEvent = counts.d1Statements - d1Before;
      isFirst = false;
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(watched), response);
}

function isStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

export default {
  ...platform,
  fetch: async (request, env, ctx) => {
    countBindings(env);
    if (new URL(request.url).pathname === COUNTING_PATH) {
      if (request.method === "POST") delayHops((await request.json<CountingRequest>()).hopDelays);
      const answer: CountingAnswer = { counts, shares, d1StatementsBeforeFirstEvent, byStatement };
      return Response.json(answer);
    }
    counts.requests += 1;
    const d1Before = counts.d1Statements;
    return watchFirstEvent(await platform.fetch(request, env, ctx), d1Before);
  },
  // The sweep of every minute is disabled: it is no part of what a run costs.
  scheduled: async () => {},
} satisfies ExportedHandler<Env>;
