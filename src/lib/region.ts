/** Where an installation runs and keeps its data. */
export const REGIONS = ["us", "eu"] as const;

export type Region = (typeof REGIONS)[number];

/** The region that alone has billing rows. */
export const BILLING_REGION: Region = "us";

export function otherRegion(region: Region): Region {
  return region === "us" ? "eu" : "us";
}
