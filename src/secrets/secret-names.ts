/** What deployed code is given by the platform, and what would mean something else here than its name says. */
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
  // No variable, and no plain property of an object.
  "__proto__",
]);

const RESERVED_PREFIXES = ["DD_TRACE_", "LSD_DD_", "THREADWORKS_"];

/** The hosts that a deployment allows itself to reach; the platform reads it, the code does not see it. */
export const OUTBOUND_HOSTS = "THREADWORKS_OUTBOUND_HOSTS";

/** The token that a deployment's private repository is read with; the platform reads it, the code does not see it. */
export const GITHUB_TOKEN = "THREADWORKS_GITHUB_TOKEN";

/** What GitHub signs the webhooks of a deployment with; the platform reads it, the code does not see it. */
export const PUSH_SECRET = "THREADWORKS_GITHUB_WEBHOOK_SECRET";

/** What a deployment sets for the platform, and its code does not see. */
const FOR_THE_PLATFORM = new Set([OUTBOUND_HOSTS, GITHUB_TOKEN, PUSH_SECRET]);

/** Whether a deployment cannot have a secret of this name. */
export function isReservedSecretName(name: string): boolean {
  if (FOR_THE_PLATFORM.has(name)) return false;
  return RESERVED.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}
