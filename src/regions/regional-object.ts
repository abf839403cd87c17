import { parseSettings } from "../env.ts";
import { inJurisdiction } from "../lib/region.ts";

type Named = { getByName: (name: string) => unknown; jurisdiction: unknown };

/** The names of the bindings of Durable Objects. */
type ObjectBinding = {
  [K in keyof Env]-?: Env[K] extends Named ? K : never;
}[keyof Env];

type Stub<N> = N extends Named ? ReturnType<N["getByName"]> : never;

/**
 * Returns the stub of the named object in the jurisdiction that the region's configuration sets. Every object is
 * reached through this function: the same name in another jurisdiction would be another object.
 */
export function regionalObject<K extends ObjectBinding>(
  env: Pick<Env, K | "JURISDICTION">,
  binding: K,
  name: string,
): Stub<Env[K]> {
  const { jurisdiction } = parseSettings(env);
  const namespace = env[binding] as DurableObjectNamespace;
  return inJurisdiction(namespace, jurisdiction).getByName(name) as Stub<Env[K]>;
}
