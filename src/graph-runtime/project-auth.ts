import { isObject } from "../lib/json.ts";
import { type Auth, HTTPException } from "@langchain/langgraph-sdk/auth";
import type { LoadModule } from "./graph-registry.ts";
import { loadOnce } from "./load-once.ts";
import { withTimeout } from "../lib/with-timeout.ts";
import type { AuthUser, Principal } from "../lib/principal.ts";
import type {
  AuthenticationRequest,
  AuthenticationResult,
  AuthInfo,
  AuthorizationRequest,
  AuthorizationResult,
  AuthRefusal,
} from "./protocol.ts";

/** The build's form of `auth` in a project's `langgraph.json`. */
export type AuthDefinition = Pick<AuthInfo, "studio" | "cache"> & {
  load: LoadModule;
  /** The export that `auth.path` names; it has to be an `Auth` object. */
  exportName: string;
};

/** Time limit of a handler, because a request waits for it. */
const HANDLER_LIMIT_MS = 10_000;

/** Maximum characters of a user's JSON, because it is stored with each of the user's runs. */
const MAX_USER_CHARS = 64 * 1024;

/**
 * Thrown for a result that handlers must not return, or a time-out. The message is only logged and never sent
 * to a client.
 */
class HandlerError extends Error {
  override readonly name = "HandlerError";
}

/**
 * Returns a function that loads the project's authentication and returns it, or null when the project has
 * none. Its module is evaluated on the first call. The returned promise rejects when the export is not an
 * `Auth` object, or when its module throws.
 */
export function authLoader(
  definition: AuthDefinition | undefined,
  keepAlive: (loading: Promise<unknown>) => void,
): () => Promise<ProjectAuth | null> {
  if (definition === undefined) return () => Promise.resolve(null);
  const { load, exportName, studio, cache } = definition;
  return loadOnce(async () => {
    const module = await load();
    return new ProjectAuth(module[exportName], { studio, cache });
  }, keepAlive);
}

/** The handlers of a project's `Auth` object. What they throw and return is converted into plain data. */
export class ProjectAuth {
  readonly info: AuthInfo;
  readonly #authenticate: (request: Request) => unknown;
  readonly #handlers: ReadonlyMap<string, (context: object) => unknown>;

  /** Throws when the export is not an `Auth` object, or has no authenticate handler. */
  constructor(handlers: unknown, { studio, cache }: Pick<AuthInfo, "studio" | "cache">) {
    if (!isAuth(handlers)) {
      throw new Error('"auth.path" must name an Auth object of @langchain/langgraph-sdk/auth');
    }
    const { authenticate, callbacks = {} } = handlers["~handlerCache"];
    if (authenticate === undefined) {
      throw new Error('The Auth object of "auth.path" has no authenticate handler');
    }
    this.#authenticate = authenticate;
    this.#handlers = new Map(
      Object.entries(callbacks).map(([event, handler]) => [
        event,
        // The parameter type of a handler is narrowed to its events, which are not known here.
        handler as (context: object) => unknown,
      ]),
    );
    this.info = { events: [...this.#handlers.keys()], studio, cache };
  }

  async authenticate(request: AuthenticationRequest): Promise<AuthenticationResult> {
    return guarded("authenticate", "Unauthorized", async () => {
      const { method, url } = request;
      const headers = request.headers.map(({ name, value }): [string, string] => [name, value]);
      const returned = await resultOf(this.#authenticate(new Request(url, { method, headers })));
      const principal = toPrincipal(returned);
      if (principal.user.is_authenticated) return { ok: true, principal };
      return { ok: false, status: 401, detail: "Unauthorized", headers: [] };
    });
  }

  /** Calls the most specific handler for the event, and allows the event when there is none. */
  async authorize(request: AuthorizationRequest): Promise<AuthorizationResult> {
    const { resource, action, value, user, permissions } = request;
    const event = `${resource}:${action}`;
    return guarded(event, "Forbidden", async () => {
      const handler = [event, resource, `*:${action}`, "*"]
        .map((key) => this.#handlers.get(key))
        .find((found) => found !== undefined);
      const left = () => ({
        metadata: plainCopy(value["metadata"]),
        ...(resource === "store" ? { item: itemOf(value) } : {}),
      });
      if (handler === undefined) return { ok: true, filter: null, ...left() };
      const context = { event, resource, action, value, user, permissions };
      const returned = await resultOf(handler(context));
      if (returned === false) {
        return { ok: false, status: 403, detail: "Forbidden", headers: [] };
      }
      return { ok: true, filter: toFilter(returned), ...left() };
    });
  }
}

/**
 * Converts an HTTPException into the refusal that it describes. Any other error is logged and answered with a
 * 500 without details.
 */
async function guarded<T>(
  handler: string,
  defaultDetail: string,
  call: () => Promise<T>,
): Promise<T | AuthRefusal> {
  try {
    return await call();
  } catch (error) {
    if (isHttpException(error) && isErrorStatus(error.status)) {
      const headers = [...new Headers(error.headers)].map(([name, value]) => ({ name, value }));
      return { ok: false, status: error.status, detail: error.message || defaultDetail, headers };
    }
    const text = error instanceof Error ? (error.stack ?? error.message) : typeof error;
    console.error({ event: "auth_handler_failed", handler, error: text });
    return { ok: false, status: 500, detail: "Internal server error", headers: [] };
  }
}

/** Awaits a handler's result. Throws a HandlerError after HANDLER_LIMIT_MS. */
function resultOf(returned: unknown): Promise<unknown> {
  return withTimeout(HANDLER_LIMIT_MS, returned, () => {
    throw new HandlerError(`No result after ${HANDLER_LIMIT_MS} ms`);
  });
}

/**
 * Converts the result of `authenticate`: either a string, which is the identity, or an object with an
 * identity and any further members.
 */
function toPrincipal(returned: unknown): Principal {
  const given = typeof returned === "string" ? { identity: returned } : plainCopy(returned);
  if (JSON.stringify(given ?? null).length > MAX_USER_CHARS) {
    throw new HandlerError(
      `authenticate returned a user of more than ${MAX_USER_CHARS} characters`,
    );
  }
  if (!isObject(given)) throw new HandlerError("authenticate returned neither a string nor a user");
  const { identity, permissions = [], display_name, is_authenticated } = given;
  if (typeof identity !== "string" || identity === "") {
    throw new HandlerError('authenticate returned a user without an "identity"');
  }
  if (!Array.isArray(permissions) || !permissions.every((name) => typeof name === "string")) {
    throw new HandlerError('"permissions" of a user must be a list of strings');
  }
  const user: AuthUser = {
    ...given,
    identity,
    permissions,
    display_name: typeof display_name === "string" ? display_name : identity,
    is_authenticated: typeof is_authenticated === "boolean" ? is_authenticated : true,
  };
  return { user, permissions };
}

function toFilter(returned: unknown): Record<string, unknown> | null {
  if (returned === undefined || returned === null || returned === true) return null;
  if (!isObject(returned)) throw new HandlerError(`A handler returned a ${typeof returned}`);
  requireTextKeys(returned);
  return returned;
}

/**
 * Throws for a symbol as a key. Symbols are lost on the way to the platform, where a filter with no other
 * keys would allow everything.
 */
function requireTextKeys(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw new HandlerError("A handler returned a filter with a symbol as a key");
  }
  for (const inner of Object.values(value)) requireTextKeys(inner);
}

/** The namespace, key and value of a store event, as its handler left them. */
function itemOf({ namespace, key, value }: Record<string, unknown>): unknown {
  return plainCopy({ namespace, key, value });
}

/** Returns a copy of the value by way of JSON, because classes and functions cannot be sent to the platform. */
function plainCopy(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? "null");
}

// These check the structure as well as the class, because a project that mixes module formats has two copies
// of the SDK.

function isAuth(value: unknown): value is Auth {
  return typeof value === "object" && value !== null && "~handlerCache" in value;
}

function isHttpException(error: unknown): error is HTTPException {
  if (error instanceof HTTPException) return true;
  return error instanceof Error && error.constructor.name === "HTTPException" && "headers" in error;
}

function isErrorStatus(status: unknown): boolean {
  return typeof status === "number" && Number.isInteger(status) && status >= 400 && status < 600;
}
