import { describe, test } from "vitest";
import { generateApiKey } from "../../../src/identity/api-key.ts";
import { otherRegionText } from "../../../src/identity/other-region-key.ts";

const HOSTS = { api: "api.test", controlPlane: "control.test", agentsDomain: "agents.test" };
const OTHER = {
  api: "eu.api.test",
  controlPlane: "eu.control.test",
  agentsDomain: "eu.agents.test",
};
const NONE = { api: null, controlPlane: null, agentsDomain: null };

function textIn(hostname: string, otherRegionHosts = OTHER as typeof OTHER | typeof NONE) {
  const settings = { region: "us", hosts: HOSTS, otherRegionHosts } as const;
  return otherRegionText(generateApiKey("eu"), hostname, settings);
}

describe("a key of the other region", () => {
  test.for([
    ["api.test", "eu.api.test"],
    ["control.test", "eu.control.test"],
    ["notagents.test", "eu.api.test"],
    ["agents.test", "eu.agents.test"],
    ["weather.agents.test", "eu.agents.test"],
  ] as const)("is told the host that it is for, on %s", ([asked, right], { expect }) => {
    expect(textIn(asked)).toBe(`This API key is of the EU region: use https://${right}`);
  });

  test("is told the API's host where it has no other", ({ expect }) => {
    const api = "eu.api.test";
    const text = otherRegionText(generateApiKey("eu"), "control.test", {
      region: "us",
      hosts: HOSTS,
      otherRegionHosts: { ...NONE, api },
    });
    expect(text).toBe(`This API key is of the EU region: use https://${api}`);
  });

  test("is told the region where no host is configured", ({ expect }) => {
    expect(textIn("api.test", NONE)).toBe(
      "This API key is of the EU region: use the host of that region",
    );
  });

  test("is no key of this one, nor one from before", ({ expect }) => {
    const settings = { region: "us", hosts: HOSTS, otherRegionHosts: OTHER } as const;
    for (const key of [generateApiKey("us"), `tw_${"x".repeat(43)}`, "eyJ.a.b"]) {
      expect(otherRegionText(key, "api.test", settings)).toBeNull();
    }
  });
});
