import { describe, test } from "vitest";
import { surfaceOf } from "../../../src/http/surface.ts";

const NO_HOSTS = { api: null, controlPlane: null, agentsDomain: null };
const HOSTS = { api: "api.test", controlPlane: "control.test", agentsDomain: "agents.test" };

describe("surfaceOf", () => {
  test.for([
    ["/threads", "agent-server"],
    ["/v2/deployments", "control-plane"],
    ["/api/v1/runs", "tracing"],
    ["/otel/v1/traces", "tracing"],
    ["/v2x", "agent-server"],
  ] as const)("chooses by path without hosts: %s", ([path, surface], { expect }) => {
    expect(surfaceOf("localhost", path, NO_HOSTS)).toBe(surface);
  });

  test.for([
    ["agents.test", "agent-server"],
    ["AGENTS.test", "agent-server"],
    ["api.test", "tracing"],
    ["control.test", "control-plane"],
    ["other.test", null],
    ["localhost", null],
  ] as const)("chooses by host when hosts are configured: %s", ([host, surface], { expect }) => {
    expect(surfaceOf(host, "/threads", HOSTS)).toBe(surface);
  });
});
