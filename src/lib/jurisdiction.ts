import type { Region } from "./region.ts";

/** The part of a namespace of Durable Objects that is needed here. */
type Namespace<N> = { jurisdiction: (name: Region) => N };

/**
 * The namespace in which objects are made and found. Only one with a jurisdiction guarantees where they
 * are; null is for where there are none, such as a local platform, which throws when asked for one.
 */
export function inJurisdiction<N extends Namespace<N>>(
  namespace: N,
  jurisdiction: Region | null,
): N {
  return jurisdiction === null ? namespace : namespace.jurisdiction(jurisdiction);
}
