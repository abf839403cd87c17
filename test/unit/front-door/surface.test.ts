import { describe, test } from "vitest";
import {
  deploymentAddress,
  isPathOf,
  privateHostOf,
  publicHostOf,
  routedPath,
  surfaceOf,
} from "../../../src/front-door/surface.ts";

const NO_HOSTS = { api: null, controlPlane: null, agentsDomain: null };
const HOSTS = { api: "api.test", controlPlane: "control.test", agentsDomain: "agents.test" };

describe("surfaceOf", () => {
  test.for([
    ["/threads", "agent-server"],
    ["/v2/deployments", "control-plane"],
    ["/api/v1/runs", "tracing"],
    ["/otel/v1/traces", "tracing"],
    ["/v2x", "agent-server"],
    ["/v1/projects/1/deploy_logs", "control-plane"],
    ["/v1/projects", "agent-server"],
    ["/v1/integrations/github/install", "control-plane"],
    ["/v1/traces", "agent-server"],
    ["/api/v1/projects/1", "tracing"],
    ["/console/agents", "tracing"],
    ["/consoles", "agent-server"],
    ["/o/w/projects/p/project/r/run", "tracing"],
    ["/o/w/host/deployments/deployment", "tracing"],
    ["/public/token/r", "tracing"],
    ["/public/token", "agent-server"],
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

  test("keeps the platform's hosts from deployments with such a name", ({ expect }) => {
    const hosts = {
      api: "api.all.test",
      controlPlane: "control.all.test",
      agentsDomain: "all.test",
    };
    const surfaces = ["api", "control", "agent", "x.api"].map((label) =>
      surfaceOf(`${label}.all.test`, "/threads", hosts),
    );
    expect(surfaces).toEqual(["tracing", "control-plane", "agent-server", "agent-server"]);
    expect(deploymentAddress("api.all.test", "/threads", hosts)).toBeNull();
  });
});

describe("isPathOf", () => {
  test.for([
    ["/threads", "agent-server"],
    ["/v2x", "agent-server"],
    ["/v2/auth/providers", "control-plane"],
    ["/v1/projects/1/deploy_logs", "control-plane"],
    ["/v1/traces", "agent-server"],
    ["/api/v1/v1/projects/1/deploy_logs", "tracing"],
    ["/api/v2/runs/query", "tracing"],
  ] as const)("returns the surface of %s", ([path, surface], { expect }) => {
    const surfaces = ["agent-server", "control-plane", "tracing", null] as const;
    expect(surfaces.filter((each) => isPathOf(each, path))).toEqual([surface]);
  });
});

describe("routedPath", () => {
  test.for([
    ["api.test", "/v1/projects/1/deploy_logs", "/api/v1/v1/projects/1/deploy_logs"],
    ["api.test", "/runs", "/api/v1/runs"],
    ["control.test", "/v1/projects/1/deploy_logs", "/v1/projects/1/deploy_logs"],
  ] as const)("returns on %s for %s: %s", ([host, path, routed], { expect }) => {
    expect(routedPath(host, path, HOSTS)).toBe(routed);
  });
});

describe("the console's paths", () => {
  test("are on the API's host, unchanged", ({ expect }) => {
    expect(routedPath("api.test", "/console/runs/1", HOSTS)).toBe("/console/runs/1");
    expect(routedPath("api.test", "/public/token/r", HOSTS)).toBe("/public/token/r");
    expect(routedPath("api.test", "/public/token/run", HOSTS)).toBe("/api/v1/public/token/run");
    expect(isPathOf("tracing", "/console")).toBe(true);
  });

  test("belong to a deployment on its own host and at its path", ({ expect }) => {
    expect(surfaceOf("agent.agents.test", "/console", HOSTS)).toBe("agent-server");
    expect(isPathOf("agent-server", "/console")).toBe(true);
    expect(surfaceOf("localhost", "/deployments/x/console", NO_HOSTS)).toBe("agent-server");
    expect(isPathOf("control-plane", "/console")).toBe(false);
  });
});

const SETTINGS = { region: "eu", hosts: HOSTS } as const;

describe("a private host", () => {
  test.for([
    ["eu.p.api.test", "api.test"],
    ["EU.P.API.TEST", "api.test"],
    ["eu.p.control.test", "control.test"],
    ["eu.p.agents.test", "agents.test"],
    ["weather.eu.p.agents.test", "weather.agents.test"],
  ] as const)("corresponds to a public one: %s", ([privateHost, publicHost], { expect }) => {
    expect(publicHostOf(privateHost, SETTINGS)).toBe(publicHost);
    expect(privateHostOf(publicHost, SETTINGS)).toBe(privateHost.toLowerCase());
  });

  test.for([
    "api.test",
    "us.p.api.test",
    "xeu.p.api.test",
    "eu.p.api.test.evil",
    "eu.p.other.test",
  ])("is no other name: %s", (name, { expect }) => {
    expect(publicHostOf(name, SETTINGS)).toBeNull();
  });

  test("does not exist if no hosts are configured", ({ expect }) => {
    const hosts = { api: null, controlPlane: null, agentsDomain: null };
    expect(publicHostOf("eu.p.localhost", { region: "eu", hosts })).toBeNull();
    expect(privateHostOf("localhost", { region: "eu", hosts })).toBeNull();
  });
});
