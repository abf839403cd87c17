import { test } from "vitest";
import { contentSecurityPolicy } from "../../../src/console/page-settings.ts";

test("a page can send requests to the hosts of its installation, and load only its own files", ({
  expect,
}) => {
  const policy = contentSecurityPolicy({
    api: "api.test",
    controlPlane: "control.test",
    agentsDomain: "agents.test",
  });
  expect(policy.split("; ")).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self' https://api.test https://control.test https://agents.test https://*.agents.test",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
});
