import { describe, test } from "vitest";
import { parseSettings } from "../../src/env.ts";
import { planQuota } from "../../src/identity/plan-quotas.ts";

describe("parseSettings", () => {
  test("has a default for every variable, and requires keys", ({ expect }) => {
    expect(parseSettings({})).toEqual({
      region: "us",
      jurisdiction: null,
      otherRegionHosts: { api: null, controlPlane: null, agentsDomain: null },
      billingUrl: null,
      regionSecret: "",
      planGraceMs: 604_800_000,
      planQuotas: {
        developer: { deployments: 1, exports_at_once: 1 },
        plus: { deployments: 20, exports_at_once: 15 },
        enterprise: { deployments: 1000, exports_at_once: 15 },
      },
      rateLimits: true,
      rateLimitOverrides: new Map(),
      trustedProxies: [],
      agentAuth: "api-key",
      trustedHosts: [],
      agentWorkspaceId: "00000000-0000-0000-0000-000000000000",
      maxBodyBytes: 33_554_432,
      resumableStreamTtlMs: 120_000,
      threadDatabases: {},
      runTimeoutMs: 3_600_000,
      recordTraces: true,
      shortlivedTraceMs: 1_209_600_000,
      longlivedTraceMs: 34_560_000_000,
      heldSpanMs: 43_200_000,
      maxIngestBytes: 268_435_456,
      maxPartBytes: 33_554_432,
      signingSecret: "",
      encryptionKeys: "",
      selfHosted: false,
      privateEndpoints: false,
      installationCredentials: null,
      exportLimits: {
        retries: 20,
        retry_delay_seconds: 30,
        run_timeout_seconds: 14_400,
        export_timeout_seconds: 259_200,
        runs_per_export: 45,
        schedule_delay_seconds: 600,
        spawned_at_once: 15,
        days_per_export: 3660,
        lease_seconds: 120,
        interruptions: 5,
        request_timeout_seconds: 60,
        request_attempts: 3,
        rows_per_file: 100_000,
        bytes_per_file: 536_870_912,
        objects_per_file: 2000,
        rows_per_group: 20_000,
        bytes_per_group: 8_388_608,
        part_bytes: 8_388_608,
      },
      githubToken: "",
      githubTokenWorkspaces: [],
      oauthCallbackPage: null,
      deployedLimits: { cpuMs: 60_000, subRequests: 10_000 },
      deployedCallMs: 30_000,
      deploymentLogMs: 1_209_600_000,
      githubUrl: "https://github.com",
      githubApiUrl: "https://api.github.com",
      npmRegistry: "https://registry.npmjs.org",
      npmToken: "",
      outboundHosts: ["*"],
      outboundPrivateEndpoints: false,
      logLevel: "info",
      hosts: { api: null, controlPlane: null, agentsDomain: null },
    });
  });

  test.for([
    ["REGION", "EU"],
    ["JURISDICTION", "europe"],
    ["OTHER_REGION_API_HOST", "https://eu.api.test"],
    ["BILLING_URL", "api.test"],
    ["PLAN_GRACE_SECONDS", "a week"],
    ["PLAN_QUOTAS", '{"free":{}}'],
    ["PLAN_QUOTAS", '{"plus":{"deployments":-1}}'],
    ["PLAN_QUOTAS", '{"plus":{"exports_at_once":0}}'],
    ["PLAN_QUOTAS", '{"plus":{"seats":3}}'],
    ["RATE_LIMITS", "true"],
    ["RATE_LIMIT_OVERRIDES", '{"acme":{}}'],
    ["TRUSTED_PROXIES", "10.0.0.0/8, proxy.example"],
    ["AGENT_AUTH", "off"],
    ["AGENT_WORKSPACE_ID", "default"],
    ["MAX_BODY_BYTES", "32MB"],
    ["MAX_BODY_BYTES", "0"],
    ["RESUMABLE_STREAM_TTL_SECONDS", "-1"],
    ["RECORD_TRACES", "true"],
    ["THREAD_DATABASES", '{"DB_2":"all"}'],
    ["THREAD_DATABASES", '{"DB_2":["everyone"]}'],
    ["THREAD_DATABASES", '{"DB_2":["*"],"DB_3":["*"]}'],
    ["SELF_HOSTED", "yes"],
    ["EXPORT_PRIVATE_ENDPOINTS", "on"],
    ["EXPORT_LIMITS", "20"],
    ["EXPORT_LIMITS", '{"retry":20}'],
    ["EXPORT_LIMITS", '{"retries":-1}'],
    ["EXPORT_LIMITS", "retries = 20"],
    ["OAUTH_FRONTEND_CALLBACK_URL", "app.example/connected"],
    ["OAUTH_FRONTEND_CALLBACK_URL", "javascript:alert(1)"],
    ["DEPLOYMENT_LOG_SECONDS", "two weeks"],
    ["OUTBOUND_HOSTS", "https://api.example"],
    ["OUTBOUND_HOSTS", "api.example, *example"],
    ["OUTBOUND_PRIVATE_ENDPOINTS", "yes"],
    ["LOG_LEVEL", "verbose"],
    ["API_HOST", "https://api.test"],
  ] as const)("names an invalid variable: %s=%s", ([name, value], { expect }) => {
    expect(() => parseSettings({ [name]: value })).toThrow(name);
  });

  test("accepts limits of exports as a table or as JSON, and keeps the other ones", ({
    expect,
  }) => {
    for (const value of [{ retries: 1 }, '{"retries":1}']) {
      const { exportLimits } = parseSettings({ EXPORT_LIMITS: value });
      expect([exportLimits.retries, exportLimits.retry_delay_seconds]).toEqual([1, 30]);
    }
  });

  test("accepts quotas of plans as a table or as JSON, and keeps the other ones", ({ expect }) => {
    for (const value of [{ plus: { deployments: 3 } }, '{"plus":{"deployments":3}}']) {
      const settings = parseSettings({ PLAN_QUOTAS: value });
      expect(planQuota(settings, "plus")).toEqual({ deployments: 3, exports_at_once: 15 });
      expect(planQuota(settings, "developer")).toEqual({ deployments: 1, exports_at_once: 1 });
    }
  });

  test("parses the variables of an isolate only once", ({ expect }) => {
    const env = { MAX_BODY_BYTES: "10" };
    expect(parseSettings(env)).toBe(parseSettings(env));
  });
});
