import { type ExportLimits, parseExportLimits } from "./bulk-export/export-limits.ts";
import { type HostList, parseHostList } from "./lib/host-list.ts";
import { type PlanQuotas, parsePlanQuotas } from "./identity/plan-quotas.ts";
import { LOG_LEVELS, type LogLevel } from "./lib/log.ts";
import { type Region, REGIONS } from "./lib/region.ts";
import { type AddressRange, parseAddressRanges } from "./lib/address-range.ts";
import { type LimitOverrides, parseLimitOverrides } from "./rate-limits/limit-overrides.ts";

type AgentAuth = "api-key" | "none";

/** Null where the host is not configured. */
export type Hosts = {
  api: string | null;
  controlPlane: string | null;
  agentsDomain: string | null;
};

export type Settings = {
  region: Region;
  /** Where Durable Objects are to be; null: wherever the platform puts them. */
  jurisdiction: Region | null;
  /** Of the other region's installation, to name to whom has a key of it. */
  otherRegionHosts: Hosts;
  /** The installation that has the billing rows; null in that installation, or when not configured. */
  billingUrl: string | null;
  /** What both regions know, and sign the calls between them with; several separated by commas. */
  regionSecret: string;
  /** How long the last known plan of a workspace holds while the region with the bills cannot be asked. */
  planGraceMs: number;
  planQuotas: PlanQuotas;
  /** Whether requests to the platform API are limited. */
  rateLimits: boolean;
  rateLimitOverrides: LimitOverrides;
  /** Of these, `X-Forwarded-For` is believed. */
  trustedProxies: AddressRange[];
  agentAuth: AgentAuth;
  /** When `agentAuth` is "none": by which hosts and of which hosts' pages requests are taken, beside local ones. */
  trustedHosts: HostList;
  /** The workspace of every request when `agentAuth` is "none". */
  agentWorkspaceId: string;
  maxBodyBytes: number;
  resumableStreamTtlMs: number;
  runTimeoutMs: number;
  /** Whether runs of the agent server leave traces. */
  recordTraces: boolean;
  /** How long traces of each tier are kept. */
  shortlivedTraceMs: number;
  longlivedTraceMs: number;
  /** How long a span waits for the one above it. */
  heldSpanMs: number;
  /** Of an ingest request, after it is decompressed. */
  maxIngestBytes: number;
  /** Of one JSON part of it. */
  maxPartBytes: number;
  /** Of links that work without a key. */
  signingSecret: string;
  /** `<version>:<key>` of secrets at rest, separated by commas; the first encrypts. */
  encryptionKeys: string;
  /** Whether destinations may use the credentials of the installation. */
  selfHosted: boolean;
  /** Whether exports and OAuth may use addresses that are not public. */
  privateEndpoints: boolean;
  installationCredentials: InstallationCredentials | null;
  exportLimits: ExportLimits;
  /** The page that shows users how connecting a service ended; null: the platform's own. */
  oauthCallbackPage: string | null;
  /** Of each invocation of deployed code: CPU time, and requests and calls that leave it. */
  deployedLimits: { cpuMs: number; subRequests: number };
  /** For each call to a project's code that somebody waits for; not for runs. */
  deployedCallMs: number;
  /** How long lines of a deployment's log are kept. */
  deploymentLogMs: number;
  /** Which hosts deployed code may call. */
  outboundHosts: HostList;
  /** Whether deployed code may call addresses that are not public. */
  outboundPrivateEndpoints: boolean;
  logLevel: LogLevel;
  hosts: Hosts;
};

/** For S3, by the names that S3 clients look for. */
type InstallationCredentials = {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
};

/** What `parseSettings` reads; any of it may be missing at run time, whatever `Env` says. */
export type SettingsVars = Partial<
  Record<
    | "REGION"
    | "JURISDICTION"
    | "OTHER_REGION_API_HOST"
    | "OTHER_REGION_CONTROL_PLANE_HOST"
    | "OTHER_REGION_AGENTS_DOMAIN"
    | "BILLING_URL"
    | "REGION_SECRET"
    | "PLAN_GRACE_SECONDS"
    | "RATE_LIMITS"
    | "TRUSTED_PROXIES"
    | "AGENT_AUTH"
    | "TRUSTED_HOSTS"
    | "AGENT_WORKSPACE_ID"
    | "MAX_BODY_BYTES"
    | "RESUMABLE_STREAM_TTL_SECONDS"
    | "RUN_TIMEOUT_SECONDS"
    | "RECORD_TRACES"
    | "SHORTLIVED_TRACE_SECONDS"
    | "LONGLIVED_TRACE_SECONDS"
    | "HELD_SPAN_SECONDS"
    | "MAX_INGEST_BYTES"
    | "MAX_INGEST_PART_BYTES"
    | "SIGNING_SECRET"
    | "ENCRYPTION_KEYS"
    | "SELF_HOSTED"
    | "EXPORT_PRIVATE_ENDPOINTS"
    | "AWS_ACCESS_KEY_ID"
    | "AWS_SECRET_ACCESS_KEY"
    | "AWS_SESSION_TOKEN"
    | "OAUTH_FRONTEND_CALLBACK_URL"
    | "DEPLOYED_CPU_MS"
    | "DEPLOYED_SUBREQUESTS"
    | "DEPLOYED_CALL_SECONDS"
    | "DEPLOYMENT_LOG_SECONDS"
    | "OUTBOUND_HOSTS"
    | "OUTBOUND_PRIVATE_ENDPOINTS"
    | "LOG_LEVEL"
    | "API_HOST"
    | "CONTROL_PLANE_HOST"
    | "AGENTS_DOMAIN",
    string
  >
> & {
  /** A table in wrangler.toml, JSON text elsewhere. */
  EXPORT_LIMITS?: unknown;
  PLAN_QUOTAS?: unknown;
  RATE_LIMIT_OVERRIDES?: unknown;
};

const NIL_UUID = "00000000-0000-0000-0000-000000000000";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const DEFAULT_PLAN_GRACE_SECONDS = 7 * 86_400;
const DEFAULT_MAX_BODY_BYTES = 32 * 1024 * 1024;
const DEFAULT_RESUMABLE_STREAM_TTL_SECONDS = 120;
const DEFAULT_RUN_TIMEOUT_SECONDS = 3600;
const DEFAULT_SHORTLIVED_TRACE_SECONDS = 14 * 86_400;
const DEFAULT_LONGLIVED_TRACE_SECONDS = 400 * 86_400;
const DEFAULT_HELD_SPAN_SECONDS = 12 * 3600;
const DEFAULT_DEPLOYMENT_LOG_SECONDS = 14 * 86_400;
const DEFAULT_MAX_INGEST_BYTES = 256 * 1024 * 1024;
const DEFAULT_MAX_INGEST_PART_BYTES = 32 * 1024 * 1024;

const DEFAULT_DEPLOYED_CPU_MS = 60_000;
const DEFAULT_DEPLOYED_SUBREQUESTS = 10_000;
const DEFAULT_DEPLOYED_CALL_SECONDS = 30;

const parsed = new WeakMap<SettingsVars, Settings>();

/** Reads the Worker's variables, once per isolate; throws an error that names the variable. */
export function parseSettings(env: SettingsVars): Settings {
  let settings = parsed.get(env);
  if (settings === undefined) {
    settings = read(env);
    parsed.set(env, settings);
  }
  return settings;
}

function read(env: SettingsVars): Settings {
  const region = oneOf("REGION", env.REGION, REGIONS, "us");
  return {
    region,
    jurisdiction: env.JURISDICTION
      ? oneOf("JURISDICTION", env.JURISDICTION, REGIONS, region)
      : null,
    otherRegionHosts: {
      api: host("OTHER_REGION_API_HOST", env.OTHER_REGION_API_HOST),
      controlPlane: host("OTHER_REGION_CONTROL_PLANE_HOST", env.OTHER_REGION_CONTROL_PLANE_HOST),
      agentsDomain: host("OTHER_REGION_AGENTS_DOMAIN", env.OTHER_REGION_AGENTS_DOMAIN),
    },
    billingUrl: webAddress("BILLING_URL", env.BILLING_URL),
    regionSecret: env.REGION_SECRET ?? "",
    planGraceMs:
      positiveInteger("PLAN_GRACE_SECONDS", env.PLAN_GRACE_SECONDS, DEFAULT_PLAN_GRACE_SECONDS) *
      1000,
    planQuotas: parsePlanQuotas(env.PLAN_QUOTAS),
    rateLimits: oneOf("RATE_LIMITS", env.RATE_LIMITS, ["on", "off"], "on") === "on",
    rateLimitOverrides: parseLimitOverrides(env.RATE_LIMIT_OVERRIDES),
    trustedProxies: addressRanges("TRUSTED_PROXIES", env.TRUSTED_PROXIES),
    agentAuth: oneOf("AGENT_AUTH", env.AGENT_AUTH, ["api-key", "none"], "api-key"),
    trustedHosts: hostList("TRUSTED_HOSTS", env.TRUSTED_HOSTS, "none"),
    agentWorkspaceId: uuid("AGENT_WORKSPACE_ID", env.AGENT_WORKSPACE_ID),
    maxBodyBytes: positiveInteger("MAX_BODY_BYTES", env.MAX_BODY_BYTES, DEFAULT_MAX_BODY_BYTES),
    resumableStreamTtlMs:
      positiveInteger(
        "RESUMABLE_STREAM_TTL_SECONDS",
        env.RESUMABLE_STREAM_TTL_SECONDS,
        DEFAULT_RESUMABLE_STREAM_TTL_SECONDS,
      ) * 1000,
    runTimeoutMs:
      positiveInteger("RUN_TIMEOUT_SECONDS", env.RUN_TIMEOUT_SECONDS, DEFAULT_RUN_TIMEOUT_SECONDS) *
      1000,
    recordTraces: oneOf("RECORD_TRACES", env.RECORD_TRACES, ["on", "off"], "on") === "on",
    shortlivedTraceMs:
      positiveInteger(
        "SHORTLIVED_TRACE_SECONDS",
        env.SHORTLIVED_TRACE_SECONDS,
        DEFAULT_SHORTLIVED_TRACE_SECONDS,
      ) * 1000,
    longlivedTraceMs:
      positiveInteger(
        "LONGLIVED_TRACE_SECONDS",
        env.LONGLIVED_TRACE_SECONDS,
        DEFAULT_LONGLIVED_TRACE_SECONDS,
      ) * 1000,
    heldSpanMs:
      positiveInteger("HELD_SPAN_SECONDS", env.HELD_SPAN_SECONDS, DEFAULT_HELD_SPAN_SECONDS) * 1000,
    maxIngestBytes: positiveInteger(
      "MAX_INGEST_BYTES",
      env.MAX_INGEST_BYTES,
      DEFAULT_MAX_INGEST_BYTES,
    ),
    maxPartBytes: positiveInteger(
      "MAX_INGEST_PART_BYTES",
      env.MAX_INGEST_PART_BYTES,
      DEFAULT_MAX_INGEST_PART_BYTES,
    ),
    signingSecret: env.SIGNING_SECRET ?? "",
    encryptionKeys: env.ENCRYPTION_KEYS ?? "",
    selfHosted: oneOf("SELF_HOSTED", env.SELF_HOSTED, ["on", "off"], "off") === "on",
    privateEndpoints:
      oneOf(
        "EXPORT_PRIVATE_ENDPOINTS",
        env.EXPORT_PRIVATE_ENDPOINTS,
        ["allow", "refuse"],
        "refuse",
      ) === "allow",
    installationCredentials: installationCredentials(env),
    exportLimits: parseExportLimits(env.EXPORT_LIMITS),
    oauthCallbackPage: webAddress("OAUTH_FRONTEND_CALLBACK_URL", env.OAUTH_FRONTEND_CALLBACK_URL),
    deployedLimits: {
      cpuMs: positiveInteger("DEPLOYED_CPU_MS", env.DEPLOYED_CPU_MS, DEFAULT_DEPLOYED_CPU_MS),
      subRequests: positiveInteger(
        "DEPLOYED_SUBREQUESTS",
        env.DEPLOYED_SUBREQUESTS,
        DEFAULT_DEPLOYED_SUBREQUESTS,
      ),
    },
    deployedCallMs:
      positiveInteger(
        "DEPLOYED_CALL_SECONDS",
        env.DEPLOYED_CALL_SECONDS,
        DEFAULT_DEPLOYED_CALL_SECONDS,
      ) * 1000,
    deploymentLogMs:
      positiveInteger(
        "DEPLOYMENT_LOG_SECONDS",
        env.DEPLOYMENT_LOG_SECONDS,
        DEFAULT_DEPLOYMENT_LOG_SECONDS,
      ) * 1000,
    outboundHosts: hostList("OUTBOUND_HOSTS", env.OUTBOUND_HOSTS, "*"),
    outboundPrivateEndpoints:
      oneOf(
        "OUTBOUND_PRIVATE_ENDPOINTS",
        env.OUTBOUND_PRIVATE_ENDPOINTS,
        ["allow", "refuse"],
        "refuse",
      ) === "allow",
    logLevel: oneOf("LOG_LEVEL", env.LOG_LEVEL, LOG_LEVELS, "info"),
    hosts: {
      api: host("API_HOST", env.API_HOST),
      controlPlane: host("CONTROL_PLANE_HOST", env.CONTROL_PLANE_HOST),
      agentsDomain: host("AGENTS_DOMAIN", env.AGENTS_DOMAIN),
    },
  };
}

function installationCredentials(env: SettingsVars): InstallationCredentials | null {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) return null;
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    sessionToken: AWS_SESSION_TOKEN || null,
  };
}

function oneOf<T extends string>(
  name: string,
  value: string | undefined,
  allowed: readonly T[],
  fallback: T,
): T {
  if (value === undefined || value === "") return fallback;
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw invalid(name, value, `one of ${allowed.join(", ")}`);
  return found;
}

function uuid(name: string, value: string | undefined): string {
  if (value === undefined || value === "") return NIL_UUID;
  const lower = value.toLowerCase();
  if (!UUID.test(lower)) throw invalid(name, value, "a UUID");
  return lower;
}

function positiveInteger(name: string, value: string | undefined, fallback: number): number {
  if (value === undefined || value === "") return fallback;
  const number = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number) || number === 0) {
    throw invalid(name, value, "a whole number greater than 0");
  }
  return number;
}

function host(name: string, value: string | undefined): string | null {
  if (value === undefined || value === "") return null;
  if (!/^[a-z0-9.-]+$/i.test(value)) throw invalid(name, value, "a host name without a port");
  return value.toLowerCase();
}

function hostList(name: string, value: string | undefined, fallback: string): HostList {
  const list = parseHostList(value === undefined || value.trim() === "" ? fallback : value);
  if (list === null) throw invalid(name, value ?? "", "host names separated by commas, * or none");
  return list;
}

function webAddress(name: string, value: string | undefined): string | null {
  if (value === undefined || value === "") return null;
  const protocol = URL.parse(value)?.protocol;
  if (protocol !== "https:" && protocol !== "http:") {
    throw invalid(name, value, "a URL that begins with https:// or http://");
  }
  return value;
}

function addressRanges(name: string, value: string | undefined): AddressRange[] {
  try {
    return parseAddressRanges(value ?? "");
  } catch (cause) {
    throw new Error(`${name}: ${cause instanceof Error ? cause.message : ""}`, { cause });
  }
}

function invalid(name: string, value: string, expected: string): Error {
  return new Error(`${name} is ${JSON.stringify(value)} but must be ${expected}`);
}
