/** The regions in which an installation can run and keep its data. */
export const REGIONS = ["us", "eu"] as const;

export type Region = (typeof REGIONS)[number];

/** The only region that has billing rows. */
export const BILLING_REGION: Region = "us";

/**
 * The path at which the billing region answers the other region's requests for plans. It is below the tracing API,
 * so that the tracing host serves it.
 */
export const BILLING_PATH = "/api/v1/internal/plans";

export function otherRegion(region: Region): Region {
  return region === "us" ? "eu" : "us";
}

/** The part of a Durable Object namespace that is needed here. */
type Namespace<N> = { jurisdiction: (name: Region) => N };

/**
 * Returns the namespace in which objects are created and found. Only a namespace with a jurisdiction guarantees
 * where they are stored. Use null on platforms without jurisdictions, such as a local one, which throws when asked
 * for one.
 */
export function inJurisdiction<N extends Namespace<N>>(
  namespace: N,
  jurisdiction: Region | null,
): N {
  return jurisdiction === null ? namespace : namespace.jurisdiction(jurisdiction);
}
