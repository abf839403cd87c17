import { describe, test } from "vitest";
import { parseSettings } from "../../../src/env.ts";
import { arrivalOf } from "../../../src/front-door/arrival.ts";
import type { FindKey } from "../../../src/lib/key-identity.ts";

const SETTINGS = parseSettings({
  REGION: "us",
  API_HOST: "api.test",
  CONTROL_PLANE_HOST: "control.test",
  AGENTS_DOMAIN: "agents.test",
  TRUSTED_PROXIES: "10.0.0.0/8",
});

const NO_KEYS: FindKey = async () => undefined;

function arrive(url: string, headers: Record<string, string> = {}) {
  return arrivalOf(new Request(url, { headers }), SETTINGS, NO_KEYS);
}

describe("the arrival of a request", () => {
  test("tells the surface, the host and the path by which it is routed", ({ expect }) => {
    expect(arrive("https://US.p.API.test/sessions?limit=1")).toMatchObject({
      hostname: "us.p.api.test",
      publicHost: "api.test",
      isPrivate: true,
      surface: "tracing",
      path: "/api/v1/sessions",
      deployment: null,
    });
    expect(arrive("https://weather.agents.test/threads")).toMatchObject({
      publicHost: "weather.agents.test",
      isPrivate: false,
      surface: "agent-server",
      path: "/threads",
      deployment: "weather",
    });
    expect(arrive("https://other.test/threads")).toMatchObject({ surface: null, deployment: null });
  });

  test("tells who sent it, as far as proxies are trusted", ({ expect }) => {
    const headers = { "cf-connecting-ip": "10.0.0.1", "x-forwarded-for": "198.51.100.1" };
    const arrival = arrive("https://api.test/info", headers);
    expect(arrival?.client).toBe("198.51.100.1");
    expect(arrival?.address?.toString()).toBe("10.0.0.1");
    expect(arrive("https://api.test/info")).toMatchObject({ client: "unknown", address: null });
  });

  test("is read once for a request", ({ expect }) => {
    const request = new Request("https://api.test/info");
    expect(arrivalOf(request, SETTINGS, NO_KEYS)).toBe(arrivalOf(request, SETTINGS, NO_KEYS));
  });
});
