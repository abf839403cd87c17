import { z } from "zod";
import { hostList, isFirstOf, seconds, wholeNumber } from "../lib/settings.ts";

export const revisionHostSettings = z
  .object({
    DEPLOYED_CPU_MS: wholeNumber(60_000),
    DEPLOYED_SUBREQUESTS: wholeNumber(10_000),
    DEPLOYED_CALL_SECONDS: seconds(30),
    OUTBOUND_HOSTS: hostList("*"),
    OUTBOUND_PRIVATE_ENDPOINTS: isFirstOf(["allow", "refuse"], false),
  })
  .transform((vars) => ({
    /** What each invocation of deployed code may use: CPU time, and requests and calls that leave it. */
    deployedLimits: { cpuMs: vars.DEPLOYED_CPU_MS, subRequests: vars.DEPLOYED_SUBREQUESTS },
    /** The time of each call to a project's code that somebody waits for; runs have their own. */
    deployedCallMs: vars.DEPLOYED_CALL_SECONDS,
    /** Which hosts deployed code may call. */
    outboundHosts: vars.OUTBOUND_HOSTS,
    /** Whether deployed code may call addresses that are not public. */
    outboundPrivateEndpoints: vars.OUTBOUND_PRIVATE_ENDPOINTS,
  }));
