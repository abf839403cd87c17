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
    /** Limits of each invocation of deployed code: CPU time, and the number of requests and calls that leave it. */
    deployedLimits: { cpuMs: vars.DEPLOYED_CPU_MS, subRequests: vars.DEPLOYED_SUBREQUESTS },
    /** Maximum milliseconds of a call to a project's code that has a waiting caller; runs have their own time-out. */
    deployedCallMs: vars.DEPLOYED_CALL_SECONDS,
    /** The hosts that deployed code may call. */
    outboundHosts: vars.OUTBOUND_HOSTS,
    /** Whether deployed code may call addresses that are not public. */
    outboundPrivateEndpoints: vars.OUTBOUND_PRIVATE_ENDPOINTS,
  }));
