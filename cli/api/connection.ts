import { CliError } from "../cli-error.ts";
import { START_COMMAND } from "../installation.ts";

/** Environment variables by name. */
type Variables = Record<string, string | undefined>;

const URL_VARIABLES = ["THREADWORKS_URL", "LANGGRAPH_HOST_URL"] as const;
const OWN_KEY_VARIABLE = "THREADWORKS_API_KEY";
const KEY_VARIABLES = ["LANGGRAPH_HOST_API_KEY", "LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"] as const;
const TENANT_VARIABLE = "LANGSMITH_TENANT_ID";
const LOOPBACK_HOSTS = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** The platform that runs on this machine, and the key that it was started with. */
export type LocalPlatform = { url: string; apiKey: string | undefined };

export type Connection = {
  /** The URL of the platform, without a trailing slash. */
  url: string;
  apiKey: string;
  keySource: string;
  tenantId: string | undefined;
};

/**
 * Decides which platform a command uses, and with which key. Options take precedence over variables, and
 * variables over the platform that runs on this machine. For that platform, its own key takes precedence over
 * the variables that other services use, too. Throws a `CliError` that says what is missing.
 */
export function chooseConnection(
  options: { hostUrl?: string | undefined; apiKey?: string | undefined },
  variables: Variables,
  local: LocalPlatform | undefined,
): Connection {
  const url = chooseUrl(options.hostUrl, variables) ?? local?.url;
  if (url === undefined) {
    throw new CliError(
      `which platform? Give its URL with --host-url or THREADWORKS_URL, or start one here with ${START_COMMAND}`,
    );
  }
  const localKey = local !== undefined && isSameServer(url, local.url) ? local.apiKey : undefined;
  const candidates: [source: string, key: string | undefined][] = [
    ["--api-key", options.apiKey],
    [OWN_KEY_VARIABLE, variables[OWN_KEY_VARIABLE]],
    ["LOCAL_API_KEY of this machine's platform", localKey],
    ...KEY_VARIABLES.map((name): [string, string | undefined] => [name, variables[name]]),
  ];
  const [keySource, apiKey] = candidates.find(([, key]) => isSet(key)) ?? [];
  if (keySource === undefined || apiKey === undefined) {
    throw new CliError(`no API key for ${url}: give one with --api-key or ${OWN_KEY_VARIABLE}`);
  }
  const tenantId = variables[TENANT_VARIABLE];
  return { url, apiKey, keySource, tenantId: isSet(tenantId) ? tenantId : undefined };
}

function chooseUrl(option: string | undefined, variables: Variables): string | undefined {
  const candidates: [source: string, url: string | undefined][] = [
    ["--host-url", option],
    ...URL_VARIABLES.map((name): [string, string | undefined] => [name, variables[name]]),
  ];
  const [source, text] = candidates.find(([, url]) => isSet(url)) ?? [];
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.search + url.hash) {
    throw new CliError(`${source}: ${text} is not the URL of a platform, such as https://host`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function isSameServer(a: string, b: string): boolean {
  const [first, second] = [new URL(a), new URL(b)];
  if (first.origin === second.origin) return true;
  const areLoopback = LOOPBACK_HOSTS.has(first.hostname) && LOOPBACK_HOSTS.has(second.hostname);
  return areLoopback && first.port === second.port && first.protocol === second.protocol;
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}
