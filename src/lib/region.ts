/** Where an installation runs and keeps its data. */
export const REGIONS = ["us", "eu"] as const;

export type Region = (typeof REGIONS)[number];

/** The region that alone has billing rows. */
export const BILLING_REGION: Region = "us";

/** Where it tells the other region of plans: below the tracing API, so that it is reached on its host. */
export const BILLING_PATH = "/api/v1/internal/plans";

export function otherRegion(region: Region): Region {
  return region === "us" ? "eu" : "us";
}

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
