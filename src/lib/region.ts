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
