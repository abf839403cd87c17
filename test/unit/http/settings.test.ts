import { describe, test } from "vitest";
import { parseSettings } from "../../../src/env.ts";

describe("parseSettings", () => {
  test("has a default for every variable, and asks for keys", ({ expect }) => {
    expect(parseSettings({})).toEqual({
      agentAuth: "api-key",
      agentWorkspaceId: "00000000-0000-0000-0000-000000000000",
      maxBodyBytes: 33_554_432,
      resumableStreamTtlMs: 120_000,
      runTimeoutMs: 3_600_000,
      recordTraces: true,
      shortlivedTraceMs: 1_209_600_000,
      longlivedTraceMs: 34_560_000_000,
      heldSpanMs: 43_200_000,
      maxIngestBytes: 268_435_456,
      maxPartBytes: 33_554_432,
      signingSecret: "",
      oauthCallbackPage: null,
      logLevel: "info",
      hosts: { api: null, controlPlane: null, agentsDomain: null },
    });
  });

  test.for([
    ["AGENT_AUTH", "off"],
    ["AGENT_WORKSPACE_ID", "default"],
    ["MAX_BODY_BYTES", "32MB"],
    ["MAX_BODY_BYTES", "0"],
    ["RESUMABLE_STREAM_TTL_SECONDS", "-1"],
    ["RECORD_TRACES", "true"],
    ["OAUTH_FRONTEND_CALLBACK_URL", "app.example/connected"],
    ["OAUTH_FRONTEND_CALLBACK_URL", "javascript:alert(1)"],
    ["LOG_LEVEL", "verbose"],
    ["API_HOST", "https://api.test"],
  ] as const)("names a variable that it cannot use: %s=%s", ([name, value], { expect }) => {
    expect(() => parseSettings({ [name]: value })).toThrow(name);
  });

  test("parses the variables of an isolate once", ({ expect }) => {
    const env = { MAX_BODY_BYTES: "10" };
    expect(parseSettings(env)).toBe(parseSettings(env));
  });
});
