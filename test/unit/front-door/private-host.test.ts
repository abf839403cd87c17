import { describe, test } from "vitest";
import { privateHostOf, publicHostOf } from "../../../src/front-door/private-host.ts";

const HOSTS = { api: "api.test", controlPlane: "control.test", agentsDomain: "agents.test" };
const SETTINGS = { region: "eu", hosts: HOSTS } as const;

describe("a private host", () => {
  test.for([
    ["eu.p.api.test", "api.test"],
    ["EU.P.API.TEST", "api.test"],
    ["eu.p.control.test", "control.test"],
    ["eu.p.agents.test", "agents.test"],
    ["weather.eu.p.agents.test", "weather.agents.test"],
  ] as const)("stands for a public one: %s", ([privateHost, publicHost], { expect }) => {
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

  test("is none where no hosts are configured", ({ expect }) => {
    const hosts = { api: null, controlPlane: null, agentsDomain: null };
    expect(publicHostOf("eu.p.localhost", { region: "eu", hosts })).toBeNull();
    expect(privateHostOf("localhost", { region: "eu", hosts })).toBeNull();
  });
});
