import type { AuthInfo } from "../../graph-runtime/protocol.ts";
import type { AppContext } from "../../http/app-types.ts";
import { graphHost } from "../graph-host.ts";

/** A project does not change while an isolate lives: it is asked once. */
let known: AuthInfo | null | undefined;

/** How the project authenticates; null when it leaves that to the platform. */
export async function projectAuthInfo(c: AppContext): Promise<AuthInfo | null> {
  if (known === undefined) {
    const { auth } = await graphHost(c.executionCtx).describe();
    known = auth;
  }
  return known;
}
