/** Variables that the platform sets for deployed code, or whose usual meaning does not apply here. */
const RESERVED = new Set([
  "DATABASE_URI",
  "LANGCHAIN_API_KEY",
  "LANGCHAIN_CALLBACKS_BACKGROUND",
  "LANGCHAIN_ENDPOINT",
  "LANGCHAIN_PROJECT",
  "LANGCHAIN_TRACING_V2",
  "LANGGRAPH_AUTH_TYPE",
  "LANGGRAPH_CLOUD_LICENSE_KEY",
  "LANGGRAPH_GIT_REPO_PATH",
  "LANGSMITH_API_KEY",
  "LANGSMITH_AUTH_ENDPOINT",
  "LANGSMITH_AUTH_VERIFY_TENANT_ID",
  "LANGSMITH_CONTROL_PLANE_API_KEY",
  "LANGSMITH_DEPLOYMENT_NAME",
  "LANGSMITH_ENDPOINT",
  "LANGSMITH_HOST_PROJECT_ID",
  "LANGSMITH_HOST_PROJECT_NAME",
  "LANGSMITH_HOST_REVISION_ID",
  "LANGSMITH_LANGGRAPH_GIT_REF",
  "LANGSMITH_LANGGRAPH_GIT_REF_SHA",
  "LANGSMITH_LANGGRAPH_GIT_REPO",
  "LANGSMITH_PROJECT",
  "LANGSMITH_TENANT_ID",
  "LANGSMITH_TRACING_V2",
  "LOG_DICT_TRACEBACKS",
  "LOG_JSON",
  "LSD_DEPLOYMENT_TYPE",
  "LSD_ENV",
  "MOUNT_PREFIX",
  "PATH",
  "PORT",
  "POSTGRES_PASSWORD",
  "POSTGRES_URI",
  "POSTGRES_URI_CUSTOM",
  "PROJECT_ENV",
  "REDIS_URI",
  "REDIS_URI_CUSTOM",
  // This is not the name of a variable, and an object cannot have it as a plain property.
  "__proto__",
]);

const RESERVED_PREFIXES = ["DD_TRACE_", "LSD_DD_", "THREADWORKS_"];

/**
 * The hosts that a deployment allows itself to reach. The platform reads it; the deployment's code does not see
 * it.
 */
export const OUTBOUND_HOSTS = "THREADWORKS_OUTBOUND_HOSTS";

/**
 * The token that reads a deployment's private repository. The platform reads it; the deployment's code does not
 * see it.
 */
export const GITHUB_TOKEN = "THREADWORKS_GITHUB_TOKEN";

/**
 * The secret by which GitHub signs a deployment's webhooks. The platform reads it; the deployment's code does not
 * see it.
 */
export const PUSH_SECRET = "THREADWORKS_GITHUB_WEBHOOK_SECRET";

/** Secrets that a deployment sets for the platform and its code does not see. */
const FOR_THE_PLATFORM = new Set([OUTBOUND_HOSTS, GITHUB_TOKEN, PUSH_SECRET]);

/** Whether a deployment may not have a secret of this name. */
export function isReservedSecretName(name: string): boolean {
  if (FOR_THE_PLATFORM.has(name)) return false;
  return RESERVED.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}
